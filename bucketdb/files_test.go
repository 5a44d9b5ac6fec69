package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestFilesAreReplicasWithoutABucket clones a file, goes on in both by turns, and
// finds them equal to the last row; the clone of the clone goes to a bucket.
func TestFilesAreReplicasWithoutABucket(t *testing.T) {
	db := newDB(t)
	fill(t, db)
	path := filepath.Join(fastDir(t), "clone")
	if _, err := CloneFile(t.Context(), db, path, &PullOptions{URL: "/somewhere"}); err != nil {
		t.Fatal(err)
	}
	clone := openDB(t, path)
	mustEqual(t, db, clone)
	if url, err := Origin(t.Context(), clone); err != nil || url != "/somewhere" {
		t.Errorf("%q, %v", url, err)
	}
	for i := range 3 {
		from, to := db, clone
		if i%2 == 1 {
			from, to = clone, db
		}
		put(t, from, fmt.Sprintf("turn %d", i), noise(uint64(i), 700<<10))
		report, err := Copy(t.Context(), from, to, nil)
		if err != nil || report.Transactions != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		mustEqual(t, from, to)
		if _, err := Copy(t.Context(), to, from, nil); err != nil {
			t.Errorf("back, with nothing to do: %v", err)
		}
	}
	store := newStore()
	mustPush(t, clone, store)
	mustPush(t, db, store)
	mustEqual(t, db, mustClone(t, store))
}

// TestFilesThatPartedAreTold where.
func TestFilesThatPartedAreTold(t *testing.T) {
	db, other := newDB(t), newDB(t)
	fill(t, db)
	at, _ := rowsOf(t, db)
	if _, err := Copy(t.Context(), db, other, nil); err != nil {
		t.Fatal(err)
	}
	put(t, db, "a", []byte("a"))
	if _, err := Copy(t.Context(), other, db, nil); !errors.Is(err, ErrBehind) {
		t.Errorf("behind: %v", err)
	}
	put(t, other, "b", []byte("b"))
	var diverged *Diverged
	if _, err := Copy(t.Context(), other, db, nil); !errors.As(err, &diverged) || diverged.Revision != at.Transaction {
		t.Errorf("parted after %d: %v", at.Transaction, err)
	}
}

// TestACloneOfAFileGoesOn after each interruption, and stops at a revision.
func TestACloneOfAFileGoesOn(t *testing.T) {
	db := newDB(t)
	fill(t, db)
	path := filepath.Join(fastDir(t), "clone")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := CloneFile(ctx, db, path, &PullOptions{Progress: func(p Progress) {
		if p.Batches > 0 {
			cancel()
		}
	}})
	if err == nil {
		// All came in one step: nothing was left to interrupt.
		t.Log("the clone was whole at once")
	} else if !errors.Is(err, context.Canceled) && !errors.Is(err, stardust.StatusCanceled) {
		t.Fatal(err)
	} else if _, err := CloneFile(t.Context(), db, path, nil); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, db, openDB(t, path))

	at, err := CloneFile(t.Context(), db, path+"2", &PullOptions{At: 9})
	if err != nil || at.Revision > 9 || at.Revision < 8 {
		t.Fatalf("%+v, %v", at, err)
	}
	earlier := openDB(t, path+"2")
	mustBeWhole(t, earlier)
	if _, err := Copy(t.Context(), db, earlier, nil); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, db, earlier)
}
