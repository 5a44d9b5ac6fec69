package bucketdb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// interrupted pushes until the first batch would be written: packs are left.
func interrupted(t *testing.T, db *stardust.DB, store objectstore.Store) {
	t.Helper()
	_, err := Push(t.Context(), db, storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpPut && strings.HasPrefix(path.String(), logPrefix) {
			return storetest.Fault{Before: errCut}
		}
		return storetest.Fault{}
	}}), small())
	if !errors.Is(err, errCut) {
		t.Fatal(err)
	}
}

// TestGCRemovesWhatNoBatchNames once it is old enough, and nothing else; a dry run
// only tells.
func TestGCRemovesWhatNoBatchNames(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	store := memory.New(&memory.Options{Now: func() time.Time { return now }})
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	named := pathsUnder(t, store, packPrefix)
	put(t, db, "more", noise(7, 900<<10))
	interrupted(t, db, store)
	left := len(pathsUnder(t, store, packPrefix)) - len(named)
	if left == 0 {
		t.Fatal("nothing was left")
	}
	for _, other := range []objectstore.Path{packPrefix + "somebody's", "probe-old"} {
		if _, err := store.Put(t.Context(), other, objectstore.Bytes([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
	}
	gc := func(options *GCOptions) GCReport {
		t.Helper()
		options.Now = func() time.Time { return now }
		report, err := GC(t.Context(), store, options)
		if err != nil {
			t.Fatal(err)
		}
		return *report
	}
	length := len(pathsUnder(t, store, ""))
	if r := gc(new(GCOptions)); r.Packs != 0 || int(r.Young) != left || int(r.Named) != len(named) || len(pathsUnder(t, store, "")) != length {
		t.Errorf("too early: %+v", r)
	}
	now = now.Add(25 * time.Hour)
	if r := gc(&GCOptions{DryRun: true}); int(r.Packs) != left || r.Bytes == 0 || len(pathsUnder(t, store, "")) != length {
		t.Errorf("a dry run: %+v", r)
	}
	if r := gc(new(GCOptions)); int(r.Packs) != left || r.Bytes == 0 {
		t.Errorf("after a day: %+v", r)
	}
	if got := pathsUnder(t, store, packPrefix); len(got) != len(named)+1 { // and somebody's
		t.Errorf("%d packs are left, %d are named", len(got), len(named))
	}
	if got := pathsUnder(t, store, probePrefix); len(got) != 0 {
		t.Errorf("probes are left: %q", got)
	}
	batches := len(pathsUnder(t, store, logPrefix))
	if r := gc(new(GCOptions)); r.Packs != 0 || len(pathsUnder(t, store, logPrefix)) != batches {
		t.Errorf("again: %+v", r)
	}
	// Pushes, pulls and clones go on over the horizon, also with a clock of long ago.
	clone := mustClone(t, store)
	options := small()
	options.Now = func() time.Time { return time.Unix(1_000_000_000, 0) }
	if _, err := Push(t.Context(), db, store, options); err != nil {
		t.Fatal(err)
	}
	if _, err := Pull(t.Context(), clone, store, nil); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, db, clone)
	if r, err := Check(t.Context(), store, &CheckOptions{Read: true}); err != nil || r.Damaged != 0 || r.Unnamed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestASlowPushLosesItsPacksAndNothingElse has packs of a push collected just before
// its batch is written.
func TestASlowPushLosesItsPacksAndNothingElse(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	put(t, db, "more", noise(7, 900<<10))
	collected := int64(0)
	mustPush(t, db, &racing{Store: store, first: func() {
		report, err := GC(t.Context(), store, &GCOptions{Grace: -1})
		if err != nil {
			t.Error(err)
		}
		collected = report.Packs
	}})
	if collected == 0 {
		t.Error("no packs were collected")
	}
	mustEqual(t, db, mustClone(t, store))
	if r, err := Check(t.Context(), store, &CheckOptions{Read: true}); err != nil || r.Damaged != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGCLosesARace against a push that names what it was about to delete.
func TestGCLosesARace(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	put(t, db, "more", noise(7, 900<<10))
	mustPush(t, db, &racing{Store: store, first: func() {
		// The packs are there, and the batch comes before the horizon does.
		late := &racing{Store: store}
		late.first = func() { mustPush(t, db, store) }
		if report, err := GC(t.Context(), late, &GCOptions{Grace: -1}); err != nil || report.Packs == 0 {
			t.Errorf("%+v, %v", report, err)
		}
	}})
	mustEqual(t, db, mustClone(t, store))
	if r, err := Check(t.Context(), store, &CheckOptions{Read: true}); err != nil || r.Damaged != 0 || r.Unnamed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestGCDeletesNothingWhenItDoesNotKnow what is named: the log is damaged, or cannot be
// read or listed.
func TestGCDeletesNothingWhenItDoesNotKnow(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	put(t, db, "more", noise(7, 900<<10))
	interrupted(t, db, store)
	packs := len(pathsUnder(t, store, packPrefix))
	for n := 0; ; n++ {
		script, calls := cutAfter(n, false)
		_, err := GC(t.Context(), storetest.Faulty(store, storetest.FaultyOptions{Script: script}), &GCOptions{DryRun: true})
		if err == nil && *calls <= n {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatalf("cut off after %d calls: %v", n, err)
		}
	}
	path := logPath(2)
	whole, _, err := objectstore.ReadAll(t.Context(), store, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if _, err := GC(t.Context(), store, &GCOptions{Grace: -1}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path.String()) {
		t.Errorf("without a batch: %v", err)
	}
	if now := len(pathsUnder(t, store, packPrefix)); now != packs {
		t.Errorf("%d packs of %d are left", now, packs)
	}
	if _, err := store.Put(t.Context(), path, objectstore.Bytes(whole), nil); err != nil {
		t.Fatal(err)
	}
	// Cut off anywhere, with the answer lost or the call never made, it does no harm.
	for _, lost := range []bool{false, true} {
		for n := range 12 {
			script, _ := cutAfter(n, lost)
			_, _ = GC(t.Context(), storetest.Faulty(store, storetest.FaultyOptions{Script: script}), &GCOptions{Grace: -1, Workers: 1}) // it is cut off
			interrupted(t, db, store)
		}
	}
	mustPush(t, db, store)
	if _, err := GC(t.Context(), store, &GCOptions{Grace: -1}); err != nil {
		t.Fatal(err)
	}
	if r, err := Check(t.Context(), store, &CheckOptions{Read: true}); err != nil || r.Damaged != 0 || r.Unnamed != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	mustEqual(t, db, mustClone(t, store))
}

// TestAPackBehindTheHorizonIsRefused by those who pull, as a forged or lost batch.
func TestAPackBehindTheHorizonIsRefused(t *testing.T) {
	ahead := uint64(4_000_000_000_000)
	name := batch.Name(ulid.MustNew(ahead, strings.NewReader("0123456789")))
	for what, test := range map[string]struct {
		last, next batch.Batch
		want       string
	}{
		"behind": {batch.Batch{Horizon: int64(ahead)}, batch.Batch{Horizon: int64(ahead), Packs: []batch.PackRef{{Name: name, Size: 1}}}, "behind the horizon"},
		"back":   {batch.Batch{Horizon: int64(ahead)}, batch.Batch{Horizon: int64(ahead) - 1}, "takes the horizon back"},
		"before": {batch.Batch{Horizon: int64(ahead) - 1}, batch.Batch{Horizon: int64(ahead), Packs: []batch.PackRef{{Name: name, Size: 1}}}, ""},
	} {
		p := puller{bucket: &bucket{store: newStore()}, last: &link{Batch: &test.last}}
		err := p.follows(&link{Batch: &test.next})
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestGCNeedsTheRightToDelete and says of which object.
func TestGCNeedsTheRightToDelete(t *testing.T) {
	store := newStore()
	db := newDB(t)
	put(t, db, "a", noise(7, 900<<10))
	interrupted(t, db, store)
	denied := storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, _ objectstore.Path) storetest.Fault {
		if op == objectstore.OpDelete {
			return storetest.Fault{Before: objectstore.ErrPermissionDenied}
		}
		return storetest.Fault{}
	}})
	_, err := GC(context.Background(), denied, &GCOptions{Grace: -1})
	if !errors.Is(err, objectstore.ErrPermissionDenied) || !strings.Contains(err.Error(), packPrefix) {
		t.Errorf("%v", err)
	}
	mustPush(t, db, store)
	mustEqual(t, db, mustClone(t, store))
}
