package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// world is one seeded schedule: several replicas write, push, pull, get lost and come
// back from old copies, at the same time, over a store that loses requests and
// answers, repeats some, lets some arrive late, and lists what was. Every call to the
// store and every local commit waits at a gate; the seed says which goes on, and what
// becomes of it. docs/simulation.md has the properties.
type world struct {
	t        *testing.T
	seed     int
	random   *rand.Rand
	names    *rand.ChaCha8
	inner    objectstore.Store
	identity batch.Identity

	mu      sync.Mutex // for what goes on between two choices
	waiting []*call
	late    []late

	members    []*member
	processes  []*process
	oracle     oracle
	compressor *batch.Compressor
	now        time.Time // the store's
	last       int       // process
	rate       float64
	quiet      bool
	listings   [][]objectstore.ObjectMeta
	failed     map[*process]bool
	violation  string // that a process saw

	writes, acknowledged, unknown, bundles, collected int

	keep  bool
	trace []string
	sum   uint64
}

// late is a request that was sent and has not arrived.
type late struct {
	p    *process // whose it is, or nil for a second copy
	what string
	run  func() error
}

func newWorld(t *testing.T, seed int, compressor *batch.Compressor) *world {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	w := &world{
		t: t, seed: seed, random: rand.New(rand.NewPCG(uint64(seed), 1)), names: rand.NewChaCha8(key),
		now: time.Unix(1_700_000_000, 0), compressor: compressor, failed: make(map[*process]bool),
	}
	w.inner = memory.New(&memory.Options{Now: func() time.Time { return w.now }})
	_, _ = w.names.Read(w.identity[:]) // it never fails
	w.oracle = oracle{db: w.empty(), named: make(map[objectstore.Path]int64), labels: make(map[string]bool)}
	w.rate = w.random.Float64() * 0.3
	genesis := objectstore.Bytes(batch.Genesis{Identity: w.identity}.Encode())
	if _, err := w.inner.Put(context.Background(), genesisPath, genesis, nil); err != nil {
		w.fail("%v", err)
	}
	for range 2 + w.draw(3) {
		m := &member{db: w.empty()}
		if w.draw(3) == 0 {
			m.skew = time.Duration(w.draw(40)-20) * 365 * 24 * time.Hour
		}
		w.members = append(w.members, m)
	}
	return w
}

func (w *world) empty() *memoryDB {
	data := make(map[digest.Digest][]byte)
	if w.oracle.db != nil {
		data = w.oracle.db.data
	}
	return &memoryDB{data: data}
}

func (w *world) draw(n int) int { return w.random.IntN(n) }

func (w *world) fail(format string, args ...any) {
	if w.keep {
		w.t.Log(strings.Join(w.trace, "\n"))
	}
	w.t.Fatalf("seed %d: "+format, append([]any{w.seed}, args...)...)
}

// tell adds to the trace, which two runs of one seed share.
func (w *world) tell(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if w.keep {
		w.trace = append(w.trace, line)
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s", w.sum, line) // it never fails
	w.sum = h.Sum64()
}

// killAll ends what is under way when a schedule fails.
func (w *world) killAll() {
	for _, p := range w.processes {
		if !p.killed {
			w.kill(p)
		}
	}
	synctest.Wait()
}

// later keeps a request that arrives later.
func (w *world) later(p *process, what string, run func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = append(w.late, late{p, what, run})
}

// listing is what is in the store, or was some time ago.
func (w *world) listing(stale bool) []objectstore.ObjectMeta {
	if stale && len(w.listings) > 0 {
		return w.listings[w.draw(len(w.listings))]
	}
	var all []objectstore.ObjectMeta
	for meta, err := range w.inner.List(context.Background(), nil) {
		if err != nil {
			w.fail("list: %v", err)
		}
		all = append(all, meta)
	}
	return all
}

// run is a schedule from its beginning to its end.
func (w *world) run() {
	steps := 200 + w.draw(400)
	for range steps {
		w.settle()
		w.step()
	}
	w.finish()
}

// settle waits until nobody can go on by themselves.
func (w *world) settle() {
	synctest.Wait()
	w.waiting = slices.DeleteFunc(w.waiting, func(c *call) bool { return c.gone })
	if w.violation != "" {
		w.fail("%s", w.violation)
	}
	w.observe()
	w.reap()
}

// step makes one choice.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.draw(1000)) * time.Millisecond)
	if w.draw(40) == 0 {
		w.now = w.now.Add(time.Duration(w.draw(72)) * time.Hour)
	}
	if w.draw(20) == 0 {
		w.listings = append(w.listings, w.listing(false))
	}
	switch what := w.draw(100); {
	case what < 64 && len(w.waiting) > 0:
		w.letGo()
	case what < 70 && len(w.late) > 0:
		w.arrive()
	case what < 71 && len(w.processes) > 0:
		w.kill(w.processes[w.draw(len(w.processes))])
	case what == 71:
		w.collect()
	default:
		w.act(w.members[w.draw(len(w.members))])
	}
}

// act has a member do something.
func (w *world) act(m *member) {
	what := w.draw(20)
	switch {
	case what < 6 && (m.worker == nil || m.worker.kind == "push"):
		// A push goes on beside a writer; a pull is a writer.
		w.writes++
		w.tell("write %d", w.writes)
		m.db.write(w.random, fmt.Sprintf("w%d", w.writes), w.now.Add(m.skew))
	case m.worker != nil:
	case what < 12:
		w.push(m)
	case what < 17:
		w.pull(m)
	case what == 17:
		w.tell("saved")
		m.saved = m.db.clone()
	case what == 18 && m.saved != nil:
		w.tell("restored")
		m.db = m.saved.clone()
	case what == 19 && w.draw(3) == 0:
		w.tell("lost")
		m.db = w.empty()
	}
}

// letGo lets one of the calls go on that wait.
func (w *world) letGo() {
	slices.SortStableFunc(w.waiting, func(a, b *call) int {
		if a.p.id != b.p.id {
			return a.p.id - b.p.id
		}
		return strings.Compare(a.what, b.what)
	})
	i := w.draw(len(w.waiting))
	c := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	f := w.fate(c.what)
	w.tell("%d: %s: %d", c.p.id, c.what, f)
	c.grant <- f
}

// fate says what becomes of a call.
func (w *world) fate(what string) fate {
	if w.quiet || w.random.Float64() > w.rate {
		return goesWell
	}
	op, _, _ := strings.Cut(what, " ")
	switch op {
	case "put":
		return []fate{isLost, loseAnswer, isLate, isLate, isRepeated, arrivesTwice}[w.draw(6)]
	case "delete":
		return []fate{isLost, loseAnswer, isLate, isRepeated}[w.draw(4)]
	case "list":
		return []fate{isLost, isCut, isStale, isStale}[w.draw(4)]
	case objectstore.OpGet, objectstore.OpHead:
		return []fate{isLost, isCut}[w.draw(2)]
	}
	return goesWell // a local commit
}

// arrive lets a late request arrive.
func (w *world) arrive() {
	i := w.draw(len(w.late))
	l := w.late[i]
	w.late = slices.Delete(w.late, i, i+1)
	err := l.run()
	w.tell("late %s: %v", l.what, err)
	if err != nil && !errors.Is(err, objectstore.ErrAlreadyExists) && !errors.Is(err, objectstore.ErrNotFound) {
		w.fail("late: %v", err)
	}
	if err == nil && l.p != nil && w.failed[l.p] && strings.HasPrefix(l.what, "put "+logPrefix) {
		w.fail("told: a push failed with %v, and its batch came to the log later", l.p.err)
	}
}

// finish ends what is under way without more faults, and has all members agree.
func (w *world) finish() {
	w.tell("finish")
	w.quiet = true
	w.drain()
	for range 2 {
		for _, m := range w.members {
			w.alone(func() { w.pull(m) })
			w.alone(func() { w.push(m) })
		}
	}
	for i, m := range w.members {
		w.alone(func() { w.pull(m) })
		if !m.db.has(w.oracle.db) || !w.oracle.db.has(m.db) {
			w.fail("equal: in the end replica %d is at %+v, the log at %+v", i, m.db.at, w.oracle.db.at)
		}
	}
	w.alone(w.collect)
	for _, meta := range w.listing(false) {
		if _, named := w.oracle.named[meta.Path]; !named && strings.HasPrefix(string(meta.Path), packPrefix) {
			w.fail("garbage: %s is left, which nothing names", meta.Path)
		}
	}
	w.unchanged()
}

// alone runs a process to its end.
func (w *world) alone(start func()) {
	start()
	w.drain()
}

// drain lets everything go on until nothing is under way, or will arrive.
func (w *world) drain() {
	for {
		w.settle()
		switch {
		case len(w.waiting) > 0:
			w.letGo()
		case len(w.late) > 0:
			w.arrive()
		case len(w.processes) > 0:
			w.fail("stuck: %d processes wait for nothing", len(w.processes))
		default:
			return
		}
	}
}
