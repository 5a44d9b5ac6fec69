//go:build unix

package file_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestSpecialFilesAreNoObjects(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe", 0o666); err != nil {
		t.Skip(err)
	}
	s := open(t, dir, nil)
	for _, head := range []bool{false, true} {
		// A read of a pipe without a writer would wait for ever.
		if _, err := s.Get(t.Context(), "pipe", &objectstore.GetOptions{Head: head}); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("head %v: %v", head, err)
		}
	}
	if got := list(t, s); len(got) > 0 {
		t.Errorf("listed %q", got)
	}
}
