package stardust

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalksAndExportsGoOnPastDamage damages each page of the catalog, one at a
// time. A walk shows every file as it is, or names it, or the directory that lacks
// some, in an error; an export writes what the walk shows.
func TestWalksAndExportsGoOnPastDamage(t *testing.T) {
	a := newArchive(t, 1500)
	dir := FastDir(t)
	path := filepath.Join(dir, "db")
	shown, all, opened := 0, 0, 0
	for _, at := range a.pages[1:] {
		for off := at[0]; off < at[1]; off += 4096 * int64(stepOf(7, 1)) {
			p := bytes.Clone(a.file)
			p[off+2000] ^= 1
			if err := os.WriteFile(path, p, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(path, &Options{ReadOnly: true, Plugins: Plugins{Objects: &ObjectsPlugin{}}})
			if err != nil {
				continue // the schema, or what every open reads
			}
			opened++
			files, lost := make(map[string]Digest), make(map[string]bool)
			for entry, err := range db.Tree().Walk(0) {
				name := strings.Trim(entry.Path, "/")
				switch {
				case errors.Is(err, StatusEvaluationFailed):
					lost[name] = true
				case err != nil:
					t.Fatal(err)
				case entry.Record.Kind == KindFile:
					files[name] = entry.Record.Digest
				}
			}
			for name, d := range files {
				if a.files[name] != d {
					t.Errorf("page at %d: %s is wrong", off, name)
				}
			}
			for name := range a.files {
				all++
				if _, ok := files[name]; ok {
					shown++
				} else if !named(lost, name) {
					t.Errorf("page at %d: %s is missing and nothing says so", off, name)
				}
			}
			if opened%10 == 0 {
				a.exportDamaged(t, db, filepath.Join(dir, "out"), files)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d pages, %.2f %% of the files shown", opened, 100*float64(shown)/float64(all))
	if shown < all*8/10 {
		t.Error("a page costs more than its own files")
	}
}

func stepOf(short, long int) int {
	if LongTests() {
		return long
	}
	return short
}

// named reports whether an error names a file, or a directory that it is in.
func named(lost map[string]bool, name string) bool {
	for {
		if lost[name] {
			return true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return lost[""]
		}
		name = name[:i]
	}
}

// exportDamaged exports a damaged database: what a walk shows is there.
func (a *archive) exportDamaged(t *testing.T, db *DB, to string, files map[string]Digest) {
	t.Helper()
	defer os.RemoveAll(to)
	report, err := db.Tree().Export(t.Context(), 0, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	there := int64(0)
	for name, d := range files {
		data, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(name)))
		if err == nil && digestOf(data) == d {
			there++
		}
	}
	if missing := int64(len(files)) - there; missing > report.Failed || there < report.Created {
		t.Errorf("%d of %d files are there, the report says %+v", there, len(files), report)
	}
}
