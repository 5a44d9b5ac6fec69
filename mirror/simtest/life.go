package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// simulation is one run of a seed. Only the driver, which is the goroutine
// that makes it, touches what mu does not guard, while all others wait.
type simulation struct {
	options Options
	config  config
	result  Result
	random  *rand.Rand
	sched   scheduler
	disk    *vfs.Simulated
	store   *memory.Store
	left    int  // operations that clients may still begin
	calm    bool // no faults, no events
	full    bool // the disk is
	gentle  bool // the next Open meets no faults
	before  *restart
	known   int // paths in use

	mu       sync.Mutex
	life     *life // nil: down
	moment   int
	objects  map[objectstore.Path]*object
	contents map[objectstore.Path][]byte
	mutables map[objectstore.Path]*mutable
	active   []*op
	quiet    map[string]int
	failure  string
	fuse     fuse
	names    map[string]objectstore.Path // by local name
	// published is the object file that was renamed into place last, since
	// the scheduler's last choice; publishFailed: it could not be.
	published     string
	publishFailed bool
}

// life is the mirror from its Open to its Close or a crash.
type life struct {
	number  int
	policy  *policy
	end     chan struct{}  // closed by scheduler.endLife
	ended   bool           // guarded by scheduler.mu
	running sync.WaitGroup // everything that the simulation started
	started bool           // the clients are
	lies    int            // wrong lengths that the remote announced

	vanishes int // of local copies, by somebody else

	// What follows is guarded by simulation.mu.
	mirror             *mirror.Mirror
	built, closed      bool
	buildErr, closeErr error
	closing, scanning  bool
	dead               bool // it ended at a quiet operation
	exited             int  // clients
	uploads            int  // that may have left a local side
	localFaults        int  // of the disk
	removeFaults       int  // of removals: files may be left
}

// restart says what the next Open must find.
type restart struct {
	local map[objectstore.Path]objectstore.ObjectMeta
	// exact: nothing else, as after a Close. Else the copies in local must be
	// there, as after a kill; nil after a crash of the machine.
	exact bool
}

func newSimulation(options Options) *simulation {
	random := rand.New(rand.NewPCG(options.Seed, 0x5eed))
	s := &simulation{
		options: options, config: drawConfig(random), random: random,
		disk: vfs.NewSimulated(), objects: map[objectstore.Path]*object{},
		contents: map[objectstore.Path][]byte{}, mutables: map[objectstore.Path]*mutable{}, quiet: map[string]int{},
		names: map[string]objectstore.Path{},
	}
	s.result.Seed = options.Seed
	s.known = s.config.paths
	s.sched.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.store = memory.New(&memory.Options{Name: "remote", Now: s.sched.time})
	s.sched.log(fmt.Sprintf("seed %d: %+v", options.Seed, s.config))
	return s
}

// content returns the bytes of a path.
func (s *simulation) content(path objectstore.Path) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.contents[path]
	if !ok {
		data = content(path)
		s.contents[path] = data
	}
	return data
}

// startLife begins to build the mirror.
func (s *simulation) startLife() {
	s.result.Restarts++
	l := &life{number: s.result.Restarts, end: make(chan struct{})}
	if s.full {
		l.localFaults++
	}
	l.policy = newPolicy(s, l)
	s.mu.Lock()
	s.life = l
	s.mu.Unlock()
	s.sched.log(fmt.Sprintf("life %d begins", l.number))
	options := &mirror.Options{
		VFS: s.files(l), Clock: clock{&s.sched, l}, Random: func() float64 { return 0.5 },
		DownloadConcurrency: s.config.concurrency, MaxIdleFiles: s.config.maxIdle,
		IndexInterval: s.config.index, Verify: s.config.verify, MaxRetries: s.config.maxRetries,
		RemoteScanInterval: s.config.scan, WithoutRemoteScan: s.config.scan == 0,
	}
	l.running.Go(func() {
		m, err := mirror.Open(context.Background(), root, &remote{Store: s.store, s: s, l: l}, l.policy, options)
		s.mu.Lock()
		l.built, l.mirror, l.buildErr = true, m, err
		s.mu.Unlock()
		if err == nil && !s.hasEnded(l) {
			s.checkRestart(l)
		}
	})
}

// startClients begins the clients of a mirror that was built.
func (s *simulation) startClients(l *life) {
	l.started = true
	s.gentle = false
	for number := range s.config.clients {
		l.running.Go(func() {
			s.client(l, number)
			s.mu.Lock()
			defer s.mu.Unlock()
			l.exited++
		})
	}
}

// startClose begins to close the mirror.
func (s *simulation) startClose(l *life) {
	s.sched.log(fmt.Sprintf("life %d closes", l.number))
	s.mu.Lock()
	l.closing = true
	s.mu.Unlock()
	l.running.Go(func() {
		err := l.mirror.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		l.closed, l.closeErr = true, err
	})
}

// crash ends the life at this very step: of the program, or of the machine
// with what was not synced.
func (s *simulation) crash(l *life) {
	s.result.Crashes++
	machine := s.random.IntN(2) == 0
	s.before = nil
	if l.mirror != nil && !machine {
		s.before = &restart{local: entries(l.mirror)}
	}
	// A call that is on its way may still arrive.
	_, others := s.sched.gates()
	ghost := "none"
	for _, g := range others {
		if g.kind == gateCall && g.writes && s.random.IntN(3) == 0 {
			ghost = g.label
			s.sched.pass(g, verdict{cut: -1})
			break
		}
	}
	s.sched.log(fmt.Sprintf("life %d crashes: machine=%v, still arrives: %s", l.number, machine, ghost))
	s.sched.endLife(l)
	if machine {
		s.disk.Crash(s.random)
	} else {
		s.disk.Kill()
	}
	s.bury(l)
}

// bury waits for everything of a life that has ended.
func (s *simulation) bury(l *life) {
	s.mu.Lock()
	active := append([]*op(nil), s.active...)
	s.life = nil
	s.mu.Unlock()
	for _, o := range active {
		o.cancel()
	}
	l.running.Wait()
	if l.mirror != nil {
		_ = l.mirror.Close() // the disk is gone for it
	}
	s.forgetLife()
	s.gentle = s.gentle || s.calm
}

// closedLife ends a life whose mirror is closed.
func (s *simulation) closedLife(l *life) {
	l.running.Wait()
	if l.closeErr != nil && l.localFaults == 0 {
		s.failf("Close failed without a fault: %v", l.closeErr)
	}
	s.before = &restart{local: entries(l.mirror), exact: l.removeFaults == 0 && l.mirror.Handle().Stats().Startup.Unreadable == 0}
	s.checkClosed(l)
	s.mu.Lock()
	s.life = nil
	s.mu.Unlock()
	s.forgetLife()
}

// entries returns the local copies that a mirror knows.
func entries(m *mirror.Mirror) map[objectstore.Path]objectstore.ObjectMeta {
	all := map[objectstore.Path]objectstore.ObjectMeta{}
	for meta := range m.Handle().Entries() {
		all[meta.Path] = meta
	}
	return all
}

func (s *simulation) fail(failure string) {
	if s.failure == "" {
		s.failure = failure
	}
}

func (s *simulation) failf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fmt.Sprintf(format, args...))
}

func (s *simulation) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure != ""
}
