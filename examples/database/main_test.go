package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBothVersionsOfTheNoteAreShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.stardust")
	var out strings.Builder
	if err := run(path, &out); err != nil {
		t.Fatal(err)
	}
	if want := "before: rain\nnow: sun\n/\n/notes\n/notes/today.txt\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
