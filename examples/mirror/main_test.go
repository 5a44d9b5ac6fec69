package main

import (
	"strings"
	"testing"
)

func TestTheLocalCopyOutlivesTheBucket(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "hot/a: content of hot/a\ncold/b: only the bucket had it\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
