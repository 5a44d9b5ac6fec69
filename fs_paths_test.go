package stardust_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestOddPathsOfTheFS opens what io/fs calls invalid and what does not exist.
func TestOddPathsOfTheFS(t *testing.T) {
	db := open(t)
	digest := upload(t, db, []byte("f"))
	create(t, db, fmt.Sprintf(`[{name d} {name f under 1 digest {#sha256 "%v"}} {name "a\\b"} {name "é"}]`, digest))
	tree := db.Tree().FS()
	for path, want := range map[string]error{
		"": fs.ErrInvalid, "/": fs.ErrInvalid, "/d": fs.ErrInvalid, "d/": fs.ErrInvalid, "./d": fs.ErrInvalid,
		"d/../d": fs.ErrInvalid, "d//f": fs.ErrInvalid, "..": fs.ErrInvalid, "\xff": fs.ErrInvalid,
		"D": fs.ErrNotExist, "d/f/x": fs.ErrNotExist, "e\u0301": fs.ErrNotExist, "a/b": fs.ErrNotExist,
		"a\x00": fs.ErrNotExist, strings.Repeat("n", 5000): fs.ErrNotExist,
		".": nil, "d": nil, "d/f": nil, `a\b`: nil, "é": nil,
	} {
		f, err := tree.Open(path)
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", path, err, want)
		}
		var bad *fs.PathError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%.20q: %T", path, err)
		}
		if err == nil {
			f.Close()
		}
	}
}

// TestExportReportsNamesThatTheTargetRefuses exports names that are fine in the
// tree and too long for most file systems, beside others.
func TestExportReportsNamesThatTheTargetRefuses(t *testing.T) {
	db := open(t)
	digest := upload(t, db, []byte("f"))
	long := strings.Repeat("x", 1000)
	create(t, db, fmt.Sprintf(`[{name %[1]s digest {#sha256 "%[2]v"}} {name %[1]sd} {name f under 2 digest {#sha256 "%[2]v"}}
		{name good digest {#sha256 "%[2]v"}} {name "back\\slash" digest {#sha256 "%[2]v"}}]`, long, digest))
	dir := t.TempDir()
	report, err := db.Tree().Export(t.Context(), 0, dir, nil)
	if err != nil || report.Created != 2 || report.Failed != 3 || report.Files != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "good")); err != nil || string(data) != "f" {
		t.Errorf("%q, %v", data, err)
	}
	target := filepath.Join(dir, "missing")
	if _, err := db.Tree().Export(t.Context(), 999, target, nil); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("an entity that does not exist: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made all the same: %v", err)
	}
}
