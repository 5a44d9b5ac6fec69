package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// contents reads the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(data)
	}
	return files
}

func TestSwapMovesTheDatabasesOwnLogAndNoStrangers(t *testing.T) {
	for name, c := range map[string]struct{ before, after map[string]string }{
		"usual names": {
			map[string]string{"db": "old", "db-wal": "log", "db-shm": "memory", "new": "new"},
			map[string]string{"db": "new", "aside": "old", "aside-wal": "log", "aside-shm": "memory"},
		},
		"at rest": {
			map[string]string{"db": "old", "new": "new"},
			map[string]string{"db": "new", "aside": "old"},
		},
		"beside a stranger's log": {
			map[string]string{"db": "old", "db-wal": "a stranger's", "db-stardust-wal": "log", "new": "new"},
			map[string]string{"db": "new", "db-wal": "a stranger's", "aside": "old", "aside-stardust-wal": "log"},
		},
		"what fails is undone": {
			map[string]string{"db": "old", "db-wal": "log"},
			map[string]string{"db": "old", "db-wal": "log"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, data := range c.before {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := swap(filepath.Join(dir, "db"), filepath.Join(dir, "aside"), filepath.Join(dir, "new"))
			if _, whole := c.before["new"]; whole != (err == nil) {
				t.Errorf("swap: %v", err)
			}
			if got := contents(t, dir); !maps.Equal(got, c.after) {
				t.Errorf("files %v, want %v", got, c.after)
			}
		})
	}
}
