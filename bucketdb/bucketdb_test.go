package bucketdb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/invariants"
)

// TestReplicasAreEqual carries a database to a bucket and to a clone, goes on in
// both by turns, and finds all three equal to the last row.
func TestReplicasAreEqual(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	first := mustPush(t, db, store)
	if first.Batches < 3 || first.Chunks == 0 || first.Payloads == 0 || first.Transactions == 0 || first.Stored == 0 {
		t.Errorf("%+v", first)
	}
	if again := mustPush(t, db, store); again.Batches != 0 || again.Revision != first.Revision {
		t.Errorf("pushed again: %+v", again)
	}
	clone := mustClone(t, store)
	mustEqual(t, db, clone)
	if got := content(t, clone, "large"); !bytes.Equal(got, noise(1, 2<<20)) {
		t.Error("wrong bytes")
	}
	for i := range 3 {
		from, to := db, clone
		if i%2 == 1 {
			from, to = clone, db
		}
		put(t, from, fmt.Sprintf("turn %d", i), noise(uint64(i), 700<<10))
		if pushed := mustPush(t, from, store); pushed.Transactions != 1 || pushed.Chunks == 0 {
			t.Errorf("pushed %+v", pushed)
		}
		if _, err := Pull(t.Context(), to, store, nil); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, from, to)
	}
	mustEqual(t, db, mustClone(t, store))
}

// TestAnEmptyDatabaseCanBeCloned begins before there is anything.
func TestAnEmptyDatabaseCanBeCloned(t *testing.T) {
	store := newStore()
	db := newDB(t)
	mustPush(t, db, store)
	clone := mustClone(t, store)
	put(t, db, "a", []byte("a"))
	mustPush(t, db, store)
	if _, err := Pull(t.Context(), clone, store, nil); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, db, clone)
}

// TestACloneOfAnyRevision is as the database was then, and can go on to the latest.
func TestACloneOfAnyRevision(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	put(t, db, "f3", []byte("a third version"))
	latest := mustPush(t, db, store).Revision
	step := int64(1)
	if testing.Short() || invariants.Enabled {
		step = 6
	}
	for at := int64(1); at <= latest; at += step {
		path := filepath.Join(fastDir(t), "clone")
		report, err := Clone(t.Context(), store, path, &PullOptions{At: at})
		if err != nil {
			t.Fatal(err)
		}
		clone := openDB(t, path)
		was, err := db.AsOf(at)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []stardust.Record
		for r, err := range was.Tree().Children(0) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, r)
		}
		for r, err := range clone.Tree().Children(0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || report.Revision > at {
			t.Fatalf("at %d, cloned to %d: %v, want %v", at, report.Revision, got, want)
		}
		mustBeWhole(t, clone)
		if at%7 == 0 {
			if _, err := Pull(t.Context(), clone, store, nil); err != nil {
				t.Fatal(err)
			}
			mustEqual(t, db, clone)
		}
		clone.Close()
	}
	_, err := Clone(t.Context(), store, filepath.Join(fastDir(t), "clone"), &PullOptions{At: latest + 1})
	if !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("a revision that is not there: %v", err)
	}
}

// TestPartedHistoriesAreNamed writes to two replicas and lets one push: the other
// learns where they parted, and neither it nor the bucket changes.
func TestPartedHistoriesAreNamed(t *testing.T) {
	for name, part := range map[string]func(t *testing.T, one, other *stardust.DB, push func()) string{
		"transactions": func(t *testing.T, one, other *stardust.DB, _ func()) string {
			put(t, one, "mine", []byte("x"))
			put(t, other, "yours", []byte("x"))
			put(t, other, "yours too", []byte("x"))
			return "the file goes on with revision"
		},
		"payloads alone": func(t *testing.T, one, other *stardust.DB, _ func()) string {
			put(t, one, "mine", []byte("x"))
			upload, err := other.Tree().Upload()
			if err != nil {
				t.Fatal(err)
			}
			defer upload.Close()
			if _, err := upload.Write([]byte("y")); err != nil {
				t.Fatal(err)
			}
			if _, err := upload.Finish(); err != nil {
				t.Fatal(err)
			}
			return "as its payload number"
		},
		"a longer history": func(t *testing.T, one, other *stardust.DB, push func()) string {
			for i := range 30 {
				put(t, one, fmt.Sprintf("n%d", i), []byte(fmt.Sprint(i)))
				push()
			}
			put(t, other, "yours", []byte("x"))
			return "the file goes on with revision"
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore()
			db := newDB(t)
			fill(t, db)
			last := mustPush(t, db, store).Revision
			other := mustClone(t, store)
			what := part(t, db, other, func() { mustPush(t, db, store) })
			mustPush(t, db, store)
			before, rows := rowsOf(t, other)
			var diverged *Diverged
			_, pushing := Push(t.Context(), other, store, small())
			_, pulling := Pull(t.Context(), other, store, nil)
			for _, err := range []error{pushing, pulling} {
				if !errors.As(err, &diverged) || !errors.Is(err, ErrDiverged) || diverged.Revision != last ||
					!strings.Contains(err.Error(), what) {
					t.Errorf("after %d: %v", last, err)
				}
			}
			if after, now := rowsOf(t, other); after != before || fmt.Sprint(now) != fmt.Sprint(rows) {
				t.Error("the file was changed")
			}
			mustEqual(t, db, mustClone(t, store))
		})
	}
}

// TestAFileThatIsBehindIsTold and that pulls first may push.
func TestAFileThatIsBehindIsTold(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	other := mustClone(t, store)
	put(t, db, "new", []byte("n"))
	mustPush(t, db, store)
	if _, err := Push(t.Context(), other, store, nil); !errors.Is(err, ErrBehind) {
		t.Errorf("%v", err)
	}
	if _, err := Pull(t.Context(), other, store, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Push(t.Context(), other, store, nil); err != nil {
		t.Error(err)
	}
}

// TestAReplicaKnowsItsDatabase refuses to pull from a bucket that holds another, and
// pushes to as many as you like.
func TestAReplicaKnowsItsDatabase(t *testing.T) {
	store, another := newStore(), newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	clone := mustClone(t, store)
	mustPush(t, clone, another)
	put(t, clone, "more", nil)
	mustPush(t, clone, another)
	mustEqual(t, clone, mustClone(t, another))
	if _, err := Pull(t.Context(), clone, another, nil); !errors.Is(err, ErrOtherDatabase) {
		t.Errorf("%v", err)
	}
	if _, err := Pull(t.Context(), clone, newStore(), nil); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("an empty store: %v", err)
	}
	strangers := newDB(t)
	put(t, strangers, "stranger", nil)
	if _, err := Push(t.Context(), strangers, store, nil); !errors.Is(err, ErrDiverged) {
		t.Errorf("pushed over another database: %v", err)
	}
}

// TestACloneReplacesNothing finds something at its path, or where it would be
// written.
func TestACloneReplacesNothing(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	dir := fastDir(t)
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Clone(t.Context(), store, path, nil); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("onto a file: %v", err)
	}
	for _, file := range []string{"text", "database"} {
		partial := filepath.Join(dir, file+".clone")
		if file == "text" {
			if err := os.WriteFile(partial, []byte("somebody's"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			theirs := openDB(t, partial)
			put(t, theirs, "theirs", nil)
			theirs.Close()
		}
		before, err := os.ReadFile(partial)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Clone(t.Context(), store, filepath.Join(dir, file), nil); err == nil {
			t.Errorf("cloned over somebody's %s", file)
		}
		if after, err := os.ReadFile(partial); err != nil || file == "text" && !bytes.Equal(before, after) {
			t.Errorf("somebody's %s is gone or changed: %v", file, err)
		}
	}
	if _, err := Clone(t.Context(), newStore(), filepath.Join(dir, "none"), nil); !errors.Is(err, ErrNoDatabase) {
		t.Errorf("of an empty store: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "none*")); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}
