package bucketdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/internal/replica"
)

// TestAFileBetweenTwoBatchesGoesOn pulls into copies of a file that were made at
// moments at which nothing was pushed. A push sends all chunks before what names
// them, so that no batch ends where such a file does.
func TestAFileBetweenTwoBatchesGoesOn(t *testing.T) {
	store := newStore()
	db := newDB(t)
	var copies []string
	for i := range 6 {
		put(t, db, fmt.Sprintf("f%d", i), noise(uint64(i), 1000))
		path := filepath.Join(fastDir(t), "copy")
		if _, err := CloneFile(t.Context(), db, path, nil); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, path)
	}
	if report, err := Push(t.Context(), db, store, &PushOptions{batchChunks: 2}); err != nil || report.Batches < 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, path := range copies {
		other := openDB(t, path)
		if _, err := Pull(t.Context(), other, store, nil); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, db, other)
		other.Close()
	}
}

// TestTwoThatPushTheSameBothSucceed although one of them loses the race.
func TestTwoThatPushTheSameBothSucceed(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	other := newDB(t)
	if _, err := Copy(t.Context(), db, other, nil); err != nil {
		t.Fatal(err)
	}
	mustPush(t, db, &racing{Store: store, first: func() { mustPush(t, other, store) }})
	mustEqual(t, db, mustClone(t, store))
}

// TestRowsThatOnlyOneHasAreADifference also where they are no last ones, and where a
// file lacks one.
func TestRowsThatOnlyOneHasAreADifference(t *testing.T) {
	store := newStore()
	db, other := newDB(t), newDB(t)
	put(t, db, "a", []byte("a"))
	put(t, db, "b", []byte("b"))
	mustPush(t, db, store)
	// The other one has had a chunk, which is gone.
	draft := other.Replica().NewDraft()
	defer draft.Close()
	if err := draft.Apply(t.Context(), replica.Position{}, replica.Position{Chunk: 2}, new(replica.Rows)); err != nil {
		t.Fatal(err)
	}
	if _, err := Pull(t.Context(), other, store, nil); !errors.Is(err, ErrDiverged) {
		t.Errorf("%v", err)
	}
}
