package newfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/internal/newfile"
)

func TestANameThatIsTakenIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for name, data := range map[string]string{from: "new", to: "old"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := newfile.NameDurably(from, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("taken: %v", err)
	}
	for name, want := range map[string]string{from: "new", to: "old"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	if err := newfile.NameDurably(from, to); err != nil {
		t.Errorf("free: %v", err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name is still there: %v", err)
	}
}
