package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The database and what stands beside it while it is open are left out of the
// import of its own directory; names that only begin like it are not.
func TestImportLeavesTheDatabaseOut(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"db", "db-wal", "db-shm", "db-2025", "db.txt", "other", "sub/db"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	walked := func(source fs.FS) (names []string) {
		err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	all := walked(os.DirFS(dir))
	for _, test := range []struct {
		file string
		want []string
	}{
		{"db", []string{"db-2025", "db.txt", "other", "sub/db"}},
		{"sub/db", slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "sub/db" })},
		{"../elsewhere", all},
		{"missing", all},
	} {
		source := withoutDatabase(os.DirFS(dir), dir, filepath.Join(dir, test.file))
		if got := walked(source); !slices.Equal(got, test.want) {
			t.Errorf("with the database %s: %q, want %q", test.file, got, test.want)
		}
	}
	// A page of a listing that holds only hidden names does not end it.
	f, err := hidingFS{os.DirFS(dir), "db"}.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // reading loses nothing
	seen := 0
	for {
		entries, err := f.(fs.ReadDirFile).ReadDir(1)
		seen += len(entries)
		if err != nil {
			break
		}
	}
	if seen != 4 {
		t.Errorf("one at a time, %d entries are listed, want 4", seen)
	}
}
