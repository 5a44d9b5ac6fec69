package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// errCut stands for a process that is killed, or a network that goes away.
var errCut = errors.New("cut off")

// cutAfter is a script that lets n calls through and fails all later ones. With
// lost, the first of these has happened, and only its answer is lost.
func cutAfter(n int, lost bool) (storetest.Script, *int) {
	var mu sync.Mutex
	calls := new(int)
	return func(string, objectstore.Path) storetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		*calls++
		switch {
		case *calls <= n:
			return storetest.Fault{}
		case *calls == n+1 && lost:
			return storetest.Fault{After: errCut}
		}
		return storetest.Fault{Before: errCut}
	}, calls
}

// TestAPushGoesOnWhereItWasCutOff cuts pushes off at every call to the store, with
// the answer lost or the call never made, and has the next one finish: the bucket
// has everything once.
func TestAPushGoesOnWhereItWasCutOff(t *testing.T) {
	db := newDB(t)
	fill(t, db)
	for _, lost := range []bool{false, true} {
		for n := 0; ; n++ {
			if n == 4 {
				n = 33 // in between the probe's calls race, all alike
			}
			store := newStore()
			script, calls := cutAfter(n, lost)
			_, err := Push(t.Context(), db, storetest.Faulty(store, storetest.FaultyOptions{Script: script}), small())
			if err == nil && *calls <= n {
				if n < 40 {
					t.Errorf("a push takes %d calls only", n)
				}
				break
			}
			if err != nil && !errors.Is(err, errCut) {
				t.Fatalf("cut off after %d calls: %v", n, err)
			}
			mustPush(t, db, store)
			mustEqual(t, db, mustClone(t, store))
		}
	}
}

// TestACloneGoesOnWhereItWasCutOff cuts a clone off at every call, until it is
// whole: nothing is received twice but within one batch, and there is no file
// before its time.
func TestACloneGoesOnWhereItWasCutOff(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	path := filepath.Join(fastDir(t), "clone")
	for n := 0; ; n++ {
		script, _ := cutAfter(n, false)
		_, err := Clone(t.Context(), storetest.Faulty(store, storetest.FaultyOptions{Script: script}), path, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatalf("cut off after %d calls: %v", n, err)
		}
		if there, _ := filepath.Glob(path); len(there) > 0 {
			t.Fatalf("after %d calls there is a file", n)
		}
	}
	mustEqual(t, db, openDB(t, path))
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

// TestALostAnswerIsReadBack loses the answer to the PUT of each batch, transient as
// drivers report it: the push succeeds all the same.
func TestALostAnswerIsReadBack(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	lost := 0
	faulty := storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op != objectstore.OpPut || strings.HasPrefix(path.String(), "probe-") {
			return storetest.Fault{}
		}
		lost++
		return storetest.Fault{After: objectstore.Transient(errCut, 0)}
	}})
	options := small()
	options.Workers = 1
	if _, err := Push(t.Context(), db, faulty, options); err != nil {
		t.Fatal(err)
	}
	if lost < 10 {
		t.Errorf("%d answers were lost", lost)
	}
	mustEqual(t, db, mustClone(t, store))
}

// TestABatchThatMayStillArriveIsUnknown has a PUT time out, be it that it arrives
// after the push has given up: the next push finds out which.
func TestABatchThatMayStillArriveIsUnknown(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		store := newStore()
		db := newDB(t)
		fill(t, db)
		mustPush(t, db, store)
		put(t, db, "late", []byte("late"))
		late := &lateStore{Store: store}
		if _, err := Push(t.Context(), db, late, small()); !errors.Is(err, ErrUnknown) {
			t.Fatalf("%v", err)
		}
		if arrives {
			if err := late.arrive(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		mustPush(t, db, store)
		if err := late.arrive(t.Context()); !errors.Is(err, objectstore.ErrAlreadyExists) {
			t.Errorf("a late batch: %v", err)
		}
		mustEqual(t, db, mustClone(t, store))
	}
}

// lateStore keeps a batch's PUT and reports a time-out.
type lateStore struct {
	objectstore.Store
	arrive func(context.Context) error
}

func (s *lateStore) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if !strings.HasPrefix(path.String(), logPrefix) {
		return s.Store.Put(ctx, path, body, options)
	}
	data, err := body.ReadAll()
	if err != nil {
		return nil, err
	}
	s.arrive = func(ctx context.Context) error {
		_, err := s.Store.Put(ctx, path, objectstore.Bytes(data), options)
		return err
	}
	return nil, &objectstore.Error{Op: objectstore.OpPut, Path: path.String(), Err: context.DeadlineExceeded}
}

// TestOneOfTwoPushersIsTold has two push different things at the same time.
func TestOneOfTwoPushersIsTold(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	other := mustClone(t, store)
	put(t, db, "one", []byte("1"))
	put(t, other, "other", []byte("2"))
	// The other one comes in between the look at the log and the PUT.
	var once sync.Once
	between := storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpPut && strings.HasPrefix(path.String(), logPrefix) {
			once.Do(func() { mustPush(t, other, store) })
		}
		return storetest.Fault{}
	}})
	if _, err := Push(t.Context(), db, between, small()); !errors.Is(err, ErrDiverged) {
		t.Errorf("the second: %v", err)
	}
	if _, err := Push(t.Context(), db, store, small()); !errors.Is(err, ErrDiverged) {
		t.Errorf("again: %v", err)
	}
	mustEqual(t, other, mustClone(t, store))
}

// careless replaces what exists although it is told to create only.
type careless struct{ objectstore.Store }

func (c careless) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	o := *options
	o.Mode = objectstore.Overwrite
	return c.Store.Put(ctx, path, body, &o)
}

func (c careless) String() string { return "careless://store" }

// TestAStoreThatLiesIsRefused at the first push, and at a later one when it has
// begun to.
func TestAStoreThatLiesIsRefused(t *testing.T) {
	store := newStore()
	db := newDB(t)
	put(t, db, "a", nil)
	refused := func(what string) {
		t.Helper()
		_, err := Push(t.Context(), db, careless{store}, nil)
		if !errors.Is(err, objectstore.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), "careless://store") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("the first push")
	for meta, err := range store.List(t.Context(), nil) {
		t.Errorf("it left %v, %v", meta.Path, err)
	}
	mustPush(t, db, store)
	put(t, db, "b", nil)
	refused("a later one")
	mustPush(t, db, store)
	mustEqual(t, db, mustClone(t, store))
}

// TestEveryMissingOrDamagedObjectIsNamed deletes, cuts, alters and swaps each
// object of a bucket. No clone comes of it, and no push but to the end of what is
// whole.
func TestEveryMissingOrDamagedObjectIsNamed(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	var paths []objectstore.Path
	for meta, err := range store.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, meta.Path)
	}
	last := paths[0]
	for _, p := range paths {
		if strings.HasPrefix(p.String(), logPrefix) {
			last = p
		}
	}
	for i, path := range paths {
		whole, _, err := objectstore.ReadAll(t.Context(), store, path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := append([]byte(nil), whole...)
		flipped[min(5, len(flipped)/2)] ^= 1 // of a pack the first chunk
		next, _, err := objectstore.ReadAll(t.Context(), store, paths[(i+1)%len(paths)])
		if err != nil {
			t.Fatal(err)
		}
		for what, bytes := range map[string][]byte{"missing": nil, "cut": whole[:len(whole)-1], "flipped": flipped, "another": next} {
			if what == "missing" {
				err = store.Delete(t.Context(), path)
			} else {
				_, err = store.Put(t.Context(), path, objectstore.Bytes(bytes), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if what == "missing" && path == last {
				continue // as if it had not been pushed: the file still has it
			}
			clone := filepath.Join(fastDir(t), "clone")
			_, err := Clone(t.Context(), store, clone, nil)
			if what == "missing" && path == genesisPath {
				if !errors.Is(err, ErrNoDatabase) {
					t.Errorf("without %s: %v", path, err)
				}
				if _, err := Push(t.Context(), db, store, nil); !errors.Is(err, ErrDamaged) {
					t.Errorf("pushed without %s: %v", path, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), path.String()) && !strings.Contains(err.Error(), logPrefix) ||
				!errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
				t.Errorf("%s %s: %v", path, what, err)
			}
			if there, _ := filepath.Glob(clone); len(there) > 0 {
				t.Errorf("%s %s: there is a clone", path, what)
			}
		}
		if _, err := store.Put(t.Context(), path, objectstore.Bytes(whole), nil); err != nil {
			t.Fatal(err)
		}
	}
	mustEqual(t, db, mustClone(t, store))
}

// TestACanceledPushStops between two chunks.
func TestACanceledPushStops(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	options := small()
	options.Progress = func(p Progress) {
		if p.Chunks == 3 {
			cancel()
		}
	}
	if report, err := Push(ctx, db, store, options); !errors.Is(err, context.Canceled) && !errors.Is(err, stardust.StatusCanceled) || report.Chunks > 3 {
		t.Errorf("%+v, %v", report, err)
	}
	mustPush(t, db, store)
	mustEqual(t, db, mustClone(t, store))
}
