package bucketdb

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestAPushStopsAtARevision pushes a history piece by piece: each time the bucket has
// that revision and nothing later, not even content.
func TestAPushStopsAtARevision(t *testing.T) {
	for name, push := range map[string]func(t *testing.T, db *stardust.DB, at int64) (*Report, func() *stardust.DB, error){
		"bucket": func() func(t *testing.T, db *stardust.DB, at int64) (*Report, func() *stardust.DB, error) {
			store := newStore()
			return func(t *testing.T, db *stardust.DB, at int64) (*Report, func() *stardust.DB, error) {
				options := small()
				options.At = at
				report, err := Push(t.Context(), db, store, options)
				return report, func() *stardust.DB { return mustClone(t, store) }, err
			}
		}(),
		"file": func() func(t *testing.T, db *stardust.DB, at int64) (*Report, func() *stardust.DB, error) {
			var to *stardust.DB
			return func(t *testing.T, db *stardust.DB, at int64) (*Report, func() *stardust.DB, error) {
				if to == nil {
					to = newDB(t)
				}
				report, err := Copy(t.Context(), db, to, &PullOptions{At: at})
				return report, func() *stardust.DB { return to }, err
			}
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			db := newDB(t)
			for i := range 9 {
				put(t, db, fmt.Sprintf("f%d", i), noise(uint64(i), 20<<10))
			}
			end, rows := rowsOf(t, db)
			for i := range 3 {
				last := 3 * (i + 1)
				at := rows.Records[last-1].ID
				report, clone, err := push(t, db, at)
				if err != nil || report.Revision != at || report.Transactions != 3 || report.Chunks != 3 {
					t.Fatalf("at %d: %+v, %v", at, report, err)
				}
				other := clone()
				reached, got := rowsOf(t, other)
				if reached.Transaction != at || len(got.Chunks) != last || len(got.Payloads) != last {
					t.Errorf("at %d the replica is at %+v with %d chunks", at, reached, len(got.Chunks))
				}
				mustBeWhole(t, other)
			}
			if _, _, err := push(t, db, end.Transaction+1); !errors.Is(err, stardust.StatusNotFound) {
				t.Errorf("a revision that is not there: %v", err)
			}
			if _, _, err := push(t, db, 2); !errors.Is(err, stardust.StatusConflict) {
				t.Errorf("a revision that lies behind: %v", err)
			}
			if _, _, err := push(t, db, -1); !errors.Is(err, stardust.StatusInvalidArgument) {
				t.Errorf("a negative one: %v", err)
			}
			if _, clone, err := push(t, db, 0); err != nil {
				t.Error(err)
			} else {
				mustEqual(t, db, clone())
			}
		})
	}
}

// TestTagsTravel with the history that they name: through a bucket, a pull, and from
// file to file, also when they were moved or taken away.
func TestTagsTravel(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	end, _ := rowsOf(t, db)
	tag := func(name string, revision int64) {
		t.Helper()
		if err := db.SetTag(t.Context(), name, revision); err != nil {
			t.Fatal(err)
		}
	}
	tag("first", 2)
	tag("middle", end.Transaction/2)
	tag("gone", 3)
	mustPush(t, db, store)
	clone := mustClone(t, store)
	path := filepath.Join(fastDir(t), "file")
	if _, err := CloneFile(t.Context(), db, path, nil); err != nil {
		t.Fatal(err)
	}
	file := openDB(t, path)
	same := func(when string) {
		t.Helper()
		want, err := db.Tags()
		if err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string]*stardust.DB{"clone": clone, "file": file} {
			if got, err := other.Tags(); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the %s has the tags %v, want %v: %v", when, name, got, want, err)
			}
		}
	}
	same("cloned")
	tag("middle", end.Transaction/2+1)
	tag("new", end.Transaction)
	if err := db.RemoveTag(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	mustPush(t, db, store)
	if _, err := Pull(t.Context(), clone, store, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Copy(t.Context(), db, file, nil); err != nil {
		t.Fatal(err)
	}
	same("pulled")
	// A tag of a replica's own goes the other way.
	if err := clone.SetTag(t.Context(), "theirs", 1); err != nil {
		t.Fatal(err)
	}
	mustPush(t, clone, store)
	for _, other := range []*stardust.DB{db, file} {
		if _, err := Pull(t.Context(), other, store, nil); err != nil {
			t.Fatal(err)
		}
	}
	same("pushed back")
	if revision, err := file.TagRevision("theirs"); err != nil || revision != 1 {
		t.Errorf("%d, %v", revision, err)
	}
}
