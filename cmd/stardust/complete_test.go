package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Completion in a directory of more names than a shell is given is right: it
// proposes nothing as common to all that is not.
func TestCompletionAmongMoreNamesThanItProposes(t *testing.T) {
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if err := os.WriteFile(filepath.Join(tree, fmt.Sprintf("file%04d", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "other"} {
		if err := os.WriteFile(filepath.Join(tree, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := stardustCommand(t, dir, "import", "db", "tree"); code != 0 {
		t.Fatal(stderr)
	}
	for typed, want := range map[string]string{
		"":         "f o",
		"f":        "file file0 file1",
		"file1":    "file10 file11 file12 file13 file14 file15 file16 file17 file18 file19",
		"file199":  "file1990 file1991 file1992 file1993 file1994 file1995 file1996 file1997 file1998 file1999",
		"file1999": "file1999",
		"g":        "",
	} {
		_, stdout, _ := stardustCommand(t, dir, "__complete", "ls", "db", typed)
		names := strings.Fields(stdout)
		if got := strings.Join(names[:len(names)-1], " "); got != want {
			t.Errorf("%q is completed to %q, want %q", typed, got, want)
		}
	}
}
