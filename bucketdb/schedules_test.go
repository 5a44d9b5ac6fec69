package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/invariants"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// simulation is one seeded schedule of real files, one step after the other: several
// replicas write, push, pull and get lost, over a store that loses requests and
// answers, lets some arrive late and stops serving in the middle. A world, see
// TestSimulation, has far more schedules of far more, with databases in memory.
type simulation struct {
	t      *testing.T
	random *rand.Rand
	inner  objectstore.Store

	mu    sync.Mutex
	late  []func() error // PUTs that were sent and have not arrived
	rate  float64
	alive int // calls until the process that makes them is killed

	dbs    []*stardust.DB // nil for one that was lost
	writes int
	acked  []ack
}

// ack is what a push that succeeded promised.
type ack struct {
	at  replica.Position
	tip batch.Tip
}

var errKilled = errors.New("the process is killed")

// Put implements objectstore.Store: some requests arrive when nobody waits for
// their answers any more.
func (s *simulation) put(store objectstore.Store) objectstore.Store { return &simulated{store, s} }

type simulated struct {
	objectstore.Store
	s *simulation
}

func (s *simulated) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	s.s.mu.Lock()
	delayed := s.s.random.Float64() < s.s.rate/2
	s.s.mu.Unlock()
	if !delayed {
		return s.Store.Put(ctx, path, body, options)
	}
	data, err := body.ReadAll()
	if err != nil {
		return nil, err
	}
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	s.s.late = append(s.s.late, func() error {
		_, err := s.s.inner.Put(context.Background(), path, objectstore.Bytes(data), options)
		return err
	})
	return nil, &objectstore.Error{Op: objectstore.OpPut, Path: path.String(), Err: context.DeadlineExceeded}
}

// store returns the store as one process sees it.
func (s *simulation) store() objectstore.Store {
	s.alive = 1 << 30
	if s.random.Float64() < 0.2 {
		s.alive = s.random.IntN(40)
	}
	return storetest.Faulty(s.put(s.inner), storetest.FaultyOptions{Script: func(op string, _ objectstore.Path) storetest.Fault {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.alive--; s.alive < 0 {
			return storetest.Fault{Before: errKilled}
		}
		// Where it hurts: before the very PUT that another is late for.
		if chance := s.random.Float64(); chance < s.rate || op == objectstore.OpPut && chance < 0.7 {
			s.arrive()
		}
		switch fate := s.random.Float64(); {
		case fate < s.rate/2:
			return storetest.Fault{Before: objectstore.Transient(errCut, 0)}
		case fate < s.rate && op == objectstore.OpPut:
			return storetest.Fault{After: objectstore.Transient(errCut, 0)}
		case fate < s.rate*1.2:
			return storetest.Fault{Cut: true, CutAt: s.random.Int64N(1000)}
		}
		return storetest.Fault{}
	}})
}

func (s *simulation) options() *PushOptions {
	return &PushOptions{Workers: 1, batchChunks: 1 + s.random.IntN(6), packSize: 1 + s.random.IntN(2000)}
}

// step does one thing. Whatever fails must fail for a reason that the simulation
// made.
func (s *simulation) step() {
	i := s.random.IntN(len(s.dbs))
	db := s.dbs[i]
	switch what := s.random.IntN(10); {
	case db == nil || what == 0:
		s.clone(i)
	case what < 5:
		s.writes++
		name := fmt.Sprintf("f%d", s.random.IntN(8))
		put(s.t, db, name, fmt.Appendf(nil, "%d %d", s.writes, s.random.IntN(3)))
	case what < 8:
		s.push(i)
	case what < 9:
		_, err := Pull(s.t.Context(), db, s.store(), s.until(db))
		s.outcome(i, err)
	default:
		s.arrive()
	}
}

// until are the options of a pull, which may stop at some revision.
func (s *simulation) until(db *stardust.DB) *PullOptions {
	o := new(PullOptions)
	if len(s.acked) == 0 || s.random.IntN(2) == 0 {
		return o
	}
	o.At = 1 + s.random.Int64N(s.acked[len(s.acked)-1].at.Transaction)
	if db != nil {
		at, err := db.Replica().Position(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		o.At = max(o.At, at.Transaction)
	}
	return o
}

// arrive lets a late request arrive.
func (s *simulation) arrive() {
	if len(s.late) == 0 {
		return
	}
	i := s.random.IntN(len(s.late))
	if err := s.late[i](); err != nil && !errors.Is(err, objectstore.ErrAlreadyExists) {
		s.t.Fatal(err)
	}
	s.late = append(s.late[:i], s.late[i+1:]...)
}

func (s *simulation) push(i int) {
	_, err := Push(s.t.Context(), s.dbs[i], s.store(), s.options())
	if err == nil {
		at, err := s.dbs[i].Replica().Position(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		s.acked = append(s.acked, ack{at, s.tip(s.dbs[i], at)})
		s.there(at)
	}
	s.outcome(i, err)
}

// there finds what a push has just promised in the bucket, before another push
// makes up for it.
func (s *simulation) there(at replica.Position) {
	b, err := open(s.t.Context(), s.inner)
	if err != nil {
		s.t.Fatal(err)
	}
	head, err := b.head(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	if !reaches(head.After, at) {
		s.t.Fatalf("a push succeeded at %+v, and the bucket is at %+v", at, head.After)
	}
}

func (s *simulation) tip(db *stardust.DB, at replica.Position) batch.Tip {
	record, chunk, payload, err := db.Replica().At(s.t.Context(), at)
	if err != nil {
		s.t.Fatal(err)
	}
	return batch.Tip{Record: batch.RecordSum(record), Chunk: chunk, Payload: payload}
}

// outcome takes note of how a push or pull ended. One that has parted gives its
// replica up, as its owner would, some time or other.
func (s *simulation) outcome(i int, err error) {
	switch {
	case err == nil, errors.Is(err, ErrBehind), errors.Is(err, ErrUnknown), errors.Is(err, ErrNoDatabase),
		errors.Is(err, errKilled), errors.Is(err, errCut), errors.Is(err, storetest.ErrInjected), errors.Is(err, context.DeadlineExceeded):
	case errors.Is(err, stardust.StatusNotFound), errors.Is(err, stardust.StatusConflict):
		// a revision that is not there, or that a clone which goes on is beyond
	case errors.Is(err, ErrDiverged), errors.Is(err, ErrOtherDatabase):
		s.dbs[i].Close()
		s.dbs[i] = nil
	default:
		s.t.Fatalf("replica %d: %v", i, err)
	}
}

// clone loses a replica and makes a new one, which may be cut off and go on.
func (s *simulation) clone(i int) {
	if s.dbs[i] != nil {
		s.dbs[i].Close()
		s.dbs[i] = nil
	}
	path := filepath.Join(fastDir(s.t), "replica")
	for range 3 {
		_, err := Clone(s.t.Context(), s.store(), path, s.until(nil))
		if err == nil {
			s.dbs[i] = openDB(s.t, path)
			return
		}
		s.outcome(i, err)
	}
}

// finish lets everything arrive, and compares what was promised with what is there.
func (s *simulation) finish() {
	for len(s.late) > 0 {
		s.arrive()
	}
	if len(s.acked) == 0 {
		return
	}
	final := mustClone(s.t, s.inner)
	mustBeWhole(s.t, final)
	end, _ := rowsOf(s.t, final)
	for _, a := range s.acked {
		if !reaches(end, a.at) || s.tip(final, a.at) != a.tip {
			s.t.Fatalf("a push that succeeded at %+v is not in the bucket, which is at %+v", a.at, end)
		}
	}
	for i, db := range s.dbs {
		if db == nil {
			continue
		}
		_, err := Pull(s.t.Context(), db, s.inner, nil)
		if errors.Is(err, ErrDiverged) {
			continue
		}
		if err != nil {
			s.t.Fatalf("replica %d in the end: %v", i, err)
		}
		if _, err := Push(s.t.Context(), db, s.inner, s.options()); err != nil {
			s.t.Fatalf("replica %d in the end: %v", i, err)
		}
		if _, err := Pull(s.t.Context(), final, s.inner, nil); err != nil {
			s.t.Fatal(err)
		}
		mustEqual(s.t, db, final)
	}
	s.log()
}

// log finds the numbers of the log without gaps.
func (s *simulation) log() {
	next := int64(1)
	for meta, err := range s.inner.List(s.t.Context(), &objectstore.ListOptions{Prefix: logPrefix}) {
		n, ok := logNumber(meta.Path)
		if err != nil || !ok || n != next {
			s.t.Fatalf("%v follows batch %d: %v", meta.Path, next-1, err)
		}
		next++
	}
}

// TestSchedulesOfFiles runs 16 seeded schedules, 6 in short tests and under the race
// detector, 1,000 with STARDUST_LONG=1.
func TestSchedulesOfFiles(t *testing.T) {
	count, first := 16, 1
	if testing.Short() || invariants.Enabled {
		count = 6
	}
	if os.Getenv("STARDUST_LONG") != "" {
		count = 1000
	}
	var acked, writes int
	for seed := first; seed < first+count; seed++ {
		ok := t.Run(strconv.Itoa(seed), func(t *testing.T) {
			s := &simulation{t: t, random: rand.New(rand.NewPCG(uint64(seed), 1)), inner: newStore()}
			s.rate = s.random.Float64() * 0.3
			// The replicas are of one database: the others are cloned from the first.
			s.dbs = make([]*stardust.DB, 2+s.random.IntN(2))
			s.dbs[0] = newDB(t)
			put(t, s.dbs[0], "first", []byte("first"))
			if _, err := Push(t.Context(), s.dbs[0], s.inner, s.options()); err != nil {
				t.Fatal(err)
			}
			for range 40 {
				s.step()
			}
			s.finish()
			acked, writes = acked+len(s.acked), writes+s.writes
		})
		if !ok {
			break
		}
	}
	t.Logf("%d schedules: %d writes, %d pushes that succeeded", count, writes, acked)
}
