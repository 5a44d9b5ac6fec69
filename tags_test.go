package stardust_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// TestTagsNameRevisions sets, moves and removes tags, which history, check and a
// reopened database know.
func TestTagsNameRevisions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := openAt(t, path, withObjects())
	first := create(t, db, `[{name a}]`)[0].Revision
	second := create(t, db, `[{name b}]`)[0].Revision
	for name, revision := range map[string]int64{"one": first, "two": second, "moves": first} {
		if err := db.SetTag(t.Context(), name, revision); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.SetTag(t.Context(), "moves", second); err != nil {
		t.Fatal(err)
	}
	if err := db.RemoveTag(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, path, withObjects())
	tags, err := db.Tags()
	if err != nil || len(tags) != 2 || tags[0].Name != "moves" || tags[0].Revision != second || tags[1].Revision != first {
		t.Errorf("%+v, %v", tags, err)
	}
	if got, err := db.TagRevision("one"); got != first || err != nil {
		t.Errorf("one is %d, %v", got, err)
	}
	if _, err := db.TagRevision("two"); statusOf(err) != stardust.StatusNotFound {
		t.Errorf("a removed tag: %v", err)
	}
	if err := db.RemoveTag(t.Context(), "two"); statusOf(err) != stardust.StatusNotFound {
		t.Errorf("removing a removed tag: %v", err)
	}
	var set []string
	for transaction, err := range db.Transactions(0) {
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, transaction.TagNames()...)
	}
	if len(set) != 5 {
		t.Errorf("the history has %v", set)
	}
	if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, name := range []string{"", "12", "latest", "-x", "a b", "\xff", strings.Repeat("x", 300), "a\n"} {
		if err := db.SetTag(t.Context(), name, 0); statusOf(err) != stardust.StatusInvalidArgument {
			t.Errorf("tag %q: %v", name, err)
		}
	}
	if err := db.SetTag(t.Context(), "late", 1000); statusOf(err) != stardust.StatusNotFound {
		t.Errorf("a tag of a revision to come: %v", err)
	}
}

// TestARevisionIsFoundByItsTime has a clock that goes back once.
func TestARevisionIsFoundByItsTime(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	now := day(1)
	options := withObjects()
	options.Now = func() time.Time { return now }
	db := openAt(t, filepath.Join(t.TempDir(), "db"), options)
	revisions := make(map[int]int64)
	for _, n := range []int{2, 4, 3, 6} {
		now = day(n)
		revisions[n] = create(t, db, `[{name d`+itoa(int64(n))+`}]`)[0].Revision
	}
	for _, test := range []struct{ at, want int }{{6, 6}, {9, 6}, {5, 3}, {3, 3}, {2, 2}} {
		if got, err := db.RevisionAt(day(test.at)); err != nil || got != revisions[test.want] {
			t.Errorf("day %d: %d, %v; want that of day %d, %d", test.at, got, err, test.want, revisions[test.want])
		}
	}
	if _, err := db.RevisionAt(day(1)); statusOf(err) != stardust.StatusNotFound {
		t.Errorf("before the first: %v", err)
	}
}

// TestAnImportSaysItsMessage writes it when nothing changed, too, and the index
// stays of use after it and a tag.
func TestAnImportSaysItsMessage(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"a": "a", "gone": "gone"})
	db := x.open(t, later)
	said := func(revision int64) (message string) {
		for transaction, err := range db.Transactions(revision) {
			if err != nil {
				t.Fatal(err)
			}
			message = transaction.Message()
		}
		return message
	}
	report, _ := x.run(t, db, stardust.ImportOptions{Message: "first", Delete: true})
	if got := said(report.Revision); got != "first" {
		t.Errorf("revision %d says %q", report.Revision, got)
	}
	if err := db.SetTag(t.Context(), "nightly", report.Revision); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(x.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	report, read := x.run(t, db, stardust.ImportOptions{Message: "second", Delete: true})
	if got := said(report.Revision); got != "second" || len(read) != 0 || report.Removed != 1 {
		t.Errorf("says %q, read %v, %+v", got, read, report)
	}
	if _, err := fs.Stat(db.Tree().FS(), "gone"); err == nil {
		t.Error("what is gone is there")
	}
}
