package stardust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestASmallMirrorIsOneCommit makes, changes, moves and removes files, with a
// directory that moves and one that ends, and imports it all.
func TestASmallMirrorIsOneCommit(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a": "a", "d/b": "bb", "d/c": "cc", "e/f/g": "gg", "h": "file", "i/j": "jj"})
	db := open(t)
	mirror := func() *stardust.TransferReport {
		t.Helper()
		report, err := db.Tree().Import(t.Context(), os.DirFS(dir), 0, &stardust.ImportOptions{Delete: true})
		if err != nil || report.Failed != 0 {
			t.Fatal(report, err)
		}
		return report
	}
	mirror()
	before := transactions(t, db)
	for _, err := range []error{
		os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "z")),
		os.RemoveAll(filepath.Join(dir, "e")),
		os.Remove(filepath.Join(dir, "h")),
		os.Rename(filepath.Join(dir, "i", "j"), filepath.Join(dir, "k")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, map[string]string{"a": "other", "h/inner": "x", "new": "n"})
	report := mirror()
	if n := transactions(t, db) - before; n != 1 {
		t.Errorf("%d commits", n)
	}
	// d, e, e/f, e/g; z and h are new directories.
	if report.Moved != 3 || report.Removed != 4 || report.Updated != 1 || report.Created != 2 {
		t.Errorf("%+v", report)
	}
	var found []string
	for entry, err := range db.Tree().Walk(0) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry.Path)
	}
	if got := fmt.Sprint(found); got != "[ a h h/inner i k new z z/b z/c]" {
		t.Errorf("the tree is %s", got)
	}
	if report := mirror(); report.Unchanged != 6 || report.Removed+report.Moved+report.Created != 0 {
		t.Errorf("again: %+v", report)
	}
}

func transactions(t *testing.T, db *stardust.DB) int {
	t.Helper()
	n := 0
	for _, err := range db.Transactions(0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
