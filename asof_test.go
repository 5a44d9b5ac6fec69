package stardust_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestTransactionsPageWithoutGapsOrRepeats has commits of very different sizes.
func TestTransactionsPageWithoutGapsOrRepeats(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	var want []int64
	for i := range 200 {
		nodes := 1
		if i%40 == 3 {
			nodes = 3000
		}
		var request strings.Builder
		for n := range nodes {
			fmt.Fprintf(&request, "{name n%d-%d}", i, n)
		}
		want = append(want, create(t, db, "["+request.String()+"]")[0].Revision)
	}
	for _, from := range []int64{-5, 0, 1, want[50], want[50] + 1, want[199], want[199] + 1} {
		var rest []int64
		for _, id := range want {
			if id >= from {
				rest = append(rest, id)
			}
		}
		var got []int64
		for transaction, err := range db.Transactions(from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, transaction.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(rest) {
			t.Errorf("from %d: %d transactions, want %d", from, len(got), len(rest))
		}
	}
}

// TestAnEntityIsNoRevisionButShowsTheStateBefore reads as of an id that a node
// took.
func TestAnEntityIsNoRevisionButShowsTheStateBefore(t *testing.T) {
	db := open(t)
	create(t, db, `[{name a}]`)          // entity 1, revision 2
	create(t, db, `[{name b} {name c}]`) // entities 3 and 4, revision 5
	for revision, want := range map[int64]string{
		0: `[]`, 1: `[]`, 2: `a`, 3: `a`, 4: `a`, 5: `a b c`,
	} {
		snapshot, err := db.AsOf(revision)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for r, err := range snapshot.Tree().Children(0) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, r.Name)
		}
		got := strings.Join(names, " ")
		if got == "" {
			got = "[]"
		}
		if got != want {
			t.Errorf("as of %d: %s, want %s", revision, got, want)
		}
	}
	for revision, status := range map[int64]stardust.Status{
		-1: stardust.StatusInvalidArgument, 6: stardust.StatusNotFound, 1<<63 - 1: stardust.StatusNotFound,
	} {
		if _, err := db.AsOf(revision); statusOf(err) != status {
			t.Errorf("as of %d: %v", revision, err)
		}
	}
}
