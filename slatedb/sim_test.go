package slatedb_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

// The simulation runs processes of one SlateDB on several machines, each with a
// mirror of its own, for some minutes of simulated time, and checks:
//
//   - every SST read that SlateDB issues is served, locally, with the right
//     bytes: a Local route never falls back, so any miss fails a process;
//   - in the end, once the garbage is collected and the remote scan has run,
//     each machine has the latest manifest's SSTs and no others than those
//     retained and in flight.
//
// Everything follows from the seed but the order of what happens in the same
// nanosecond. Times are drawn so finely that this is rare, so a seed that fails
// nearly always fails again. STARDUST_LONG=1 runs many more seeds.
func TestEverySSTReadIsServedLocallyAndTheDiskStaysBounded(t *testing.T) {
	seeds := uint64(250)
	switch {
	case os.Getenv("STARDUST_LONG") != "":
		seeds = 4000
	case testing.Short():
		seeds = 20
	case raceDetector:
		seeds = 60
	}
	for seed := range seeds {
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newSimulation(t, seed).run() })
		}) {
			return
		}
	}
}

// simulation is one run.
type simulation struct {
	t        *testing.T
	seed     uint64
	random   *rand.Rand
	remote   objectstore.Store
	faults   bool // reads of SSTs fail now and then
	options  slatetest.Options
	selected func(segment string) bool // nil: all
	poll     time.Duration             // of .compactions; zero: none
	machines []*machine
}

// machine is one machine: its disk outlives its mirror.
type machine struct {
	name   string
	fs     *vfs.Simulated
	remote *slowStore
	mirror *mirror.Mirror
	policy *slatedb.Policy
}

const scanInterval = 15 * time.Second

func newSimulation(t *testing.T, seed uint64) *simulation {
	random := rand.New(rand.NewPCG(seed, 34))
	s := &simulation{t: t, seed: seed, random: random, remote: memory.New(nil), options: slatetest.Options{
		Root:               []objectstore.Path{"", "db", "a/b"}[random.IntN(3)],
		FormatVersion:      1,
		Segments:           []string{""},
		CheckpointLifetime: 15 * time.Second,
		MinAge:             5 * time.Second,
		HeartbeatTimeout:   2 * time.Second,
	}}
	switch random.IntN(4) {
	case 0:
		s.options.FormatVersion = 2
		s.options.Segments = []string{"", "hot", "cold", "new"}
	case 1:
		s.options.FormatVersion = 2
		s.options.Segments = []string{"", "hot", "cold"}
		s.selected = func(segment string) bool { return segment != "cold" }
	case 2:
		s.options.Untagged = true
	}
	if random.IntN(2) == 0 {
		s.poll = time.Second
	}
	// A process retries its own calls, which these are not; downloads are the
	// mirror's.
	s.faults = s.selected == nil && random.IntN(2) == 0
	for i := range 2 + random.IntN(2) {
		s.machines = append(s.machines, &machine{
			name: fmt.Sprint("machine", i), fs: vfs.NewSimulated(),
			remote: &slowStore{Store: s.remote, seed: seed + uint64(i)<<32, faults: s.faults, calls: map[string]int{}},
		})
	}
	return s
}

func (s *simulation) run() {
	for range 2 {
		s.start()
		s.work()
		s.stop(0.6)
	}
	s.start()
	defer s.stop(1)
	s.quiet()
	s.settle()
	s.check()
}

// start starts the mirrors that do not run, some of them on an empty disk.
func (s *simulation) start() {
	for _, m := range s.machines {
		if m.mirror != nil {
			continue
		}
		if s.random.IntN(4) == 0 {
			m.fs = vfs.NewSimulated()
		}
		options := &slatedb.PolicyOptions{CompactionsPollInterval: s.poll, PathTags: s.options.Untagged}
		if s.selected != nil {
			options.SegmentPredicate = func(_ *slatedb.Manifest, segment []byte) bool { return s.selected(string(segment)) }
		}
		m.policy = slatedb.NewPolicy(options)
		built, err := mirror.Open(s.t.Context(), "/mirror", m.remote, m.policy, &mirror.Options{VFS: m.fs, RemoteScanInterval: scanInterval, Random: func() float64 { return 0.5 }, DownloadConcurrency: 1 + s.random.IntN(8)})
		if err != nil {
			s.t.Fatal(err)
		}
		m.mirror = built
	}
}

// stop stops each of the mirrors with a probability.
func (s *simulation) stop(probability float64) {
	for _, m := range s.machines {
		if s.random.Float64() >= probability || m.mirror == nil {
			continue
		}
		if err := m.mirror.Close(); err != nil {
			s.t.Error(err)
		}
		m.mirror = nil
	}
}

// work runs all processes for a while.
func (s *simulation) work() {
	end := 4*time.Second + time.Duration(s.random.Int64N(int64(10*time.Second)))
	var wg sync.WaitGroup
	launch := func(m *machine, name string, turn func(ctx context.Context, p *slatetest.Process, random *rand.Rand) error) {
		random := rand.New(rand.NewPCG(s.random.Uint64(), 0))
		// Each is cut off, in the middle of a call maybe, at a time of its own.
		ctx, cancel := context.WithTimeout(s.t.Context(), end+time.Duration(random.Int64N(int64(time.Second))))
		wg.Go(func() {
			defer cancel()
			s.live(ctx, m, name, random, turn)
		})
	}
	first, last := s.machines[0], s.machines[len(s.machines)-1]
	launch(first, "writer", writerTurn)
	launch(first, "coordinator", func(ctx context.Context, p *slatetest.Process, _ *rand.Rand) error { return p.Coordinate(ctx) })
	launch(last, "collector", func(ctx context.Context, p *slatetest.Process, _ *rand.Rand) error { return p.Collect(ctx) })
	for _, m := range s.machines {
		launch(m, "worker", func(ctx context.Context, p *slatetest.Process, _ *rand.Rand) error { return p.Work(ctx, 8) })
		launch(m, "reader", readerTurn)
	}
	wg.Wait()
}

func writerTurn(ctx context.Context, p *slatetest.Process, random *rand.Rand) error {
	err := errors.Join(p.Poll(ctx), p.Flush(ctx), p.Scan(ctx))
	if err == nil && random.IntN(8) == 0 {
		err = p.Checkpoint(ctx, time.Duration(5+random.IntN(20))*time.Second)
	}
	return err
}

func readerTurn(ctx context.Context, p *slatetest.Process, random *rand.Rand) error {
	if random.IntN(3) == 0 {
		return p.ScanCheckpoint(ctx, 8*time.Second)
	}
	return errors.Join(p.Poll(ctx), p.Scan(ctx), p.Scan(ctx))
}

// live is a process: it opens the database and takes turns until ctx ends.
func (s *simulation) live(ctx context.Context, m *machine, name string, random *rand.Rand, turn func(context.Context, *slatetest.Process, *rand.Rand) error) {
	err := pause(ctx, time.Duration(random.Int64N(int64(time.Second))))
	var p *slatetest.Process
	if err == nil {
		p, err = slatetest.Open(ctx, m.name+"'s "+name, m.mirror, s.options, random)
	}
	for err == nil {
		if err = turn(ctx, p, random); err == nil {
			err = pause(ctx, time.Duration(random.Int64N(int64(time.Second))))
		}
	}
	if ctx.Err() == nil {
		s.t.Errorf("%s: %v", m.name, err)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// quiet compacts L0 while nothing else runs. Every machine then has evicted the
// inputs as soon as it has seen a manifest without them and without a
// checkpoint on them, before a collector or a remote scan could help.
func (s *simulation) quiet() {
	ctx := s.t.Context()
	fail := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	p, err := slatetest.Open(ctx, "quiet", s.machines[0].mirror, s.options, s.random)
	fail(err)
	segment := s.options.Segments[0]
	for range 2 {
		fail(errors.Join(p.Poll(ctx), p.Flush(ctx)))
	}
	s.see()
	inputs := slatetest.L0(p.Manifest(), segment)
	for range 6 { // jobs of other segments, and of dead workers, take their turns
		fail(errors.Join(p.Coordinate(ctx), p.Work(ctx, 1<<30)))
		sleepFor(s.options.HeartbeatTimeout)
	}
	fail(p.Coordinate(ctx))
	sleepFor(30 * time.Second) // no checkpoint lives longer
	fail(errors.Join(p.Poll(ctx), p.Flush(ctx)))
	s.see()
	kept := s.selectedSSTs(p.Manifest())
	for _, id := range inputs {
		path := slatedb.SSTPath(s.options.Root, id)
		for _, m := range s.machines {
			if m.mirror.Handle().Contains(path) && !kept[path] {
				s.t.Errorf("%s: %q was not evicted", m.name, path)
			}
		}
	}
}

// see lets every machine read the latest manifest, and waits for what follows.
func (s *simulation) see() {
	for _, m := range s.machines {
		if _, err := slatedb.LatestManifest(s.t.Context(), m.mirror, s.options.Root); err != nil {
			s.t.Fatal(err)
		}
	}
	synctest.Wait()
}

// settle collects what can be collected and lets every machine see the latest
// manifest and run its remote scan.
func (s *simulation) settle() {
	ctx := s.t.Context()
	for range 2 {
		sleepFor(s.options.CheckpointLifetime + s.options.MinAge)
		for _, m := range s.machines {
			p, err := slatetest.Open(ctx, m.name, m.mirror, s.options, s.random)
			if err == nil {
				err = p.Collect(ctx)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.see()
	sleepFor(2 * scanInterval)
}

func (s *simulation) check() {
	needed, allowed := s.expected()
	for _, m := range s.machines {
		local := map[objectstore.Path]bool{}
		for meta := range m.mirror.Handle().Entries() {
			local[meta.Path] = true
			if !allowed[meta.Path] {
				s.t.Errorf("%s: %q is neither retained nor in flight", m.name, meta.Path)
			}
		}
		for path := range needed {
			if !local[path] {
				s.t.Errorf("%s: %q of the latest manifest is not local", m.name, path)
			}
		}
		if misses := m.mirror.Handle().Stats().ReadThroughs; misses > 0 {
			s.t.Errorf("%s: %d reads had to download first", m.name, misses)
		}
	}
}

// expected returns what must be local, and what may be.
func (s *simulation) expected() (needed, allowed map[objectstore.Path]bool) {
	ctx, root := s.t.Context(), s.options.Root
	latest, err := slatedb.LatestManifest(ctx, s.remote, root)
	if err != nil {
		s.t.Fatal(err)
	}
	needed, allowed = s.selectedSSTs(latest), s.selectedSSTs(latest)
	for _, c := range latest.ActiveCheckpoints(time.Now()) {
		m, err := slatedb.ReadManifest(ctx, s.remote, root, c.ManifestID)
		if err != nil {
			s.t.Fatal(err)
		}
		for path := range s.selectedSSTs(m) {
			allowed[path] = true
		}
	}
	compactions, err := slatedb.LatestCompactions(ctx, s.remote, root)
	if err != nil {
		s.t.Fatal(err)
	}
	if compactions != nil {
		for _, id := range compactions.ActiveOutputs() {
			allowed[slatedb.SSTPath(root, id)] = true
		}
	}
	return needed, allowed
}

func (s *simulation) selectedSSTs(m *slatedb.Manifest) map[objectstore.Path]bool {
	paths := map[objectstore.Path]bool{}
	for segment, tree := range m.Trees() {
		for view := range tree.SSTViews() {
			if s.selected == nil || s.selected(string(segment)) {
				paths[slatedb.SSTPath(s.options.Root, view.SST.ID)] = true
			}
		}
	}
	return paths
}

// slowStore is a machine's way to the remote: calls take time, and reads of SSTs
// sometimes fail. What the n-th call of a kind on a path gets follows from the
// seed, so it does not depend on the order of calls on other paths.
type slowStore struct {
	objectstore.Store
	seed   uint64
	faults bool
	mu     sync.Mutex
	calls  map[string]int
}

// call waits as long as the call takes.
func (s *slowStore) call(ctx context.Context, op string, path objectstore.Path) (random *rand.Rand, err error) {
	key := op + " " + string(path)
	s.mu.Lock()
	s.calls[key]++
	n := s.calls[key]
	s.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", key, n)
	random = rand.New(rand.NewPCG(s.seed, hash.Sum64()))
	return random, pause(ctx, time.Duration(1+random.Int64N(int64(30*time.Millisecond))))
}

func (s *slowStore) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	random, err := s.call(ctx, "get", path)
	if err == nil && s.faults && strings.HasSuffix(string(path), ".sst") && random.IntN(5) == 0 {
		err = objectstore.Transient(errRemote, 0)
	}
	if err != nil {
		return nil, &objectstore.Error{Op: "get", Path: string(path), Err: err}
	}
	return s.Store.Get(ctx, path, options)
}

func (s *slowStore) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if _, err := s.call(ctx, "put", path); err != nil {
		return nil, &objectstore.Error{Op: "put", Path: string(path), Err: err}
	}
	return s.Store.Put(ctx, path, body, options)
}

func (s *slowStore) Delete(ctx context.Context, path objectstore.Path) error {
	if _, err := s.call(ctx, "delete", path); err != nil {
		return &objectstore.Error{Op: "delete", Path: string(path), Err: err}
	}
	return s.Store.Delete(ctx, path)
}

func (s *slowStore) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		if _, err := s.call(ctx, "list", objectstore.Path(options.Prefix)); err != nil {
			yield(objectstore.ObjectMeta{}, err)
			return
		}
		s.Store.List(ctx, options)(yield)
	}
}
