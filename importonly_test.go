package stardust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestOnlySomePathsAreImported changes much and names some of it.
func TestOnlySomePathsAreImported(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a": "a", "b": "b", "d/c": "c", "d/e/f": "f", "g/h": "h"})
	db := open(t)
	for _, step := range []struct {
		what   string
		change func() error
		only   []string
		want   string
	}{
		{"a new file in a new directory", nil, []string{"d/e/f"}, "[ d d/e d/e/f]"},
		{"nothing", nil, []string{}, "[ d d/e d/e/f]"},
		{"a directory, and a file in it", nil, []string{"d", "d/c"}, "[ d d/c d/e d/e/f]"},
		{"everything", nil, []string{"g/h", "."}, "[ a b d d/c d/e d/e/f g g/h]"},
		{"a file that is gone", func() error { return os.Remove(filepath.Join(dir, "b")) }, []string{"b"}, "[ a d d/c d/e d/e/f g g/h]"},
		{
			"what is in a directory that is gone", func() error { return os.RemoveAll(filepath.Join(dir, "g")) },
			[]string{"g/h", "g/never"},
			"[ a d d/c d/e d/e/f]",
		},
		{
			"a file that moved", func() error { return os.Rename(filepath.Join(dir, "d/e/f"), filepath.Join(dir, "f")) },
			[]string{"f", "d/e/f"},
			"[ a d d/c d/e f]",
		},
		{
			"a directory that became a file", func() error {
				writeFiles(t, dir, map[string]string{"new": "n"})
				if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
					return err
				}
				return os.WriteFile(filepath.Join(dir, "d"), []byte("file"), 0o666)
			}, []string{"d/e", "d"}, "[ a d f]",
		},
		{"what is beneath a file", nil, []string{"d/e/f", "../a", "new/x"}, "[ a d f new]"},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		report, err := db.Tree().Import(t.Context(), os.DirFS(dir), 0, &stardust.ImportOptions{Delete: true, Only: step.only})
		if err != nil || report.Failed != 0 && step.what != "what is beneath a file" {
			t.Fatalf("%s: %+v, %v", step.what, report, err)
		}
		var found []string
		for entry, err := range db.Tree().Walk(0) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, entry.Path)
		}
		if got := fmt.Sprint(found); got != step.want {
			t.Errorf("%s: the tree is %s, want %s", step.what, got, step.want)
		}
		if step.what == "a file that moved" && report.Moved != 1 {
			t.Errorf("%s: %+v", step.what, report)
		}
	}
}
