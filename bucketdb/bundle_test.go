package bucketdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// fewBatches are sizes of bundles for tests.
func fewBatches() []int64 { return []int64{4, 16} }

// longLog pushes a database in so many batches, with bundles of 4 and of 16.
func longLog(t *testing.T, batches int) (*stardust.DB, objectstore.Store) {
	t.Helper()
	store, db := newStore(), newDB(t)
	pushEach(t, db, store, batches, &PushOptions{Workers: 1, sizes: fewBatches()})
	return db, store
}

// pushEach writes to a database and pushes that, so many times.
func pushEach(t *testing.T, db *stardust.DB, store objectstore.Store, batches int, options *PushOptions) {
	t.Helper()
	for i := range batches {
		put(t, db, fmt.Sprintf("f%d", i%7), fmt.Appendf(nil, "version %d of %d", i, batches))
		if report, err := Push(t.Context(), db, store, options); err != nil || report.Batches != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
	}
}

func pathsUnder(t *testing.T, store objectstore.Store, prefix string) (paths []objectstore.Path) {
	t.Helper()
	for meta, err := range store.List(t.Context(), &objectstore.ListOptions{Prefix: prefix}) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, meta.Path)
	}
	return paths
}

// counting counts the GETs under a prefix.
func counting(store objectstore.Store, prefix string) (objectstore.Store, *atomic.Int64) {
	n := new(atomic.Int64)
	return storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpGet && strings.HasPrefix(path.String(), prefix) {
			n.Add(1)
		}
		return storetest.Fault{}
	}}), n
}

// TestALongLogIsShort clones a log of 39 batches, which has bundles of 1-16, 17-32 and
// 33-36: with three GETs of these, and few of batches.
func TestALongLogIsShort(t *testing.T) {
	db, inner := longLog(t, 39)
	if got := pathsUnder(t, inner, bundlePrefix); len(got) != 2+9 || got[0] != "bundles/00000000000000000001-00000000000000000004" {
		t.Errorf("bundles %q", got)
	}
	store, bundles := counting(inner, bundlePrefix)
	store, batches := counting(store, logPrefix)
	path := filepath.Join(fastDir(t), "clone")
	report, err := Clone(t.Context(), store, path, &PullOptions{sizes: fewBatches()})
	if err != nil || report.Batches != 39 {
		t.Fatalf("%+v, %v", report, err)
	}
	// The last one of each bundle, the three behind them, and the head to compare.
	if bundles.Load() != 3 || batches.Load() > 3+3+2 {
		t.Errorf("%d GETs of bundles, %d of batches", bundles.Load(), batches.Load())
	}
	clone := openDB(t, path)
	mustEqual(t, db, clone)

	// Who is not far behind makes use of what is left of a bundle, or of none.
	pushEach(t, db, inner, 19, &PushOptions{Workers: 1, sizes: fewBatches()}) // to 58
	bundles.Store(0)
	if _, err := Pull(t.Context(), clone, store, &PullOptions{sizes: fewBatches()}); err != nil {
		t.Fatal(err)
	}
	if n := bundles.Load(); n != 3 { // 37-40, 41-56 or its four
		t.Errorf("a pull of 40 to 58 took %d bundles", n)
	}
	mustEqual(t, db, clone)
}

// TestTheLogDoesInsteadOfABundle that is missing, cut, altered, another one, or a
// newer version's: a clone is whole, and what was wrong is told.
func TestTheLogDoesInsteadOfABundle(t *testing.T) {
	db, store := longLog(t, 10)
	_, foreign := longLog(t, 10)
	paths := pathsUnder(t, store, bundlePrefix)
	if len(paths) != 2 {
		t.Fatalf("%q", paths)
	}
	whole, _, err := objectstore.ReadAll(t.Context(), store, paths[0])
	if err != nil {
		t.Fatal(err)
	}
	read := func(store objectstore.Store, path objectstore.Path) []byte {
		data, _, err := objectstore.ReadAll(t.Context(), store, path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	newer := slices.Clone(whole)
	newer[3]++
	u, err := batch.DecodeBundle(whole)
	if err != nil {
		t.Fatal(err)
	}
	u.Batches[1] = u.Batches[0]
	disordered, err := u.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{
		"missing": nil, "empty": {}, "cut": whole[:len(whole)-1], "altered": flipped, "newer": newer,
		"another": read(store, paths[1]), "foreign": read(foreign, paths[0]), "disordered": disordered, "a batch": read(store, logPath(1)),
	} {
		if err := store.Delete(t.Context(), paths[0]); err != nil {
			t.Fatal(err)
		}
		if data != nil {
			if _, err := store.Put(t.Context(), paths[0], objectstore.Bytes(data), nil); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(fastDir(t), "clone")
		var told []error
		_, err := Clone(t.Context(), store, path, &PullOptions{sizes: fewBatches(), Problem: func(err error) { told = append(told, err) }})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if data != nil && (len(told) != 1 || !strings.Contains(told[0].Error(), paths[0].String()) || !strings.Contains(told[0].Error(), "the log is read instead")) {
			t.Errorf("%s: told %v", what, told)
		}
		clone := openDB(t, path)
		mustEqual(t, db, clone)
		clone.Close()
		if data == nil {
			if _, err := store.Put(t.Context(), paths[0], objectstore.Bytes(whole), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestABundleThatWasNotWrittenComesLater has the store refuse bundles, and then the
// process die before they are written: pushes succeed, and a later one makes up for
// it.
func TestABundleThatWasNotWrittenComesLater(t *testing.T) {
	inner, db := newStore(), newDB(t)
	store := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpPut && strings.HasPrefix(path.String(), bundlePrefix) {
			return storetest.Fault{Before: objectstore.ErrPermissionDenied}
		}
		return storetest.Fault{}
	}})
	var told []error
	options := &PushOptions{Workers: 1, sizes: fewBatches(), Problem: func(err error) { told = append(told, err) }}
	pushEach(t, db, store, 9, options)
	if len(told) != 2 || !errors.Is(told[0], objectstore.ErrPermissionDenied) || !strings.Contains(told[0].Error(), "everything was pushed") {
		t.Errorf("told %v", told)
	}
	pushEach(t, db, inner, 3, options)
	if got := pathsUnder(t, inner, bundlePrefix); len(got) != 3 || len(told) != 2 {
		t.Errorf("bundles %q, told %v", got, told)
	}
	mustEqual(t, db, mustClone(t, inner))
}
