package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// isThere reports whether something has that name.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// allSideSuffixes are what is added to a database's name for its write-ahead log and
// shared memory: the second pair where the first names are a stranger's.
func allSideSuffixes() []string { return []string{"-wal", "-shm", "-stardust-wal", "-stardust-shm"} }

// sideSuffixes are those of a file.
func sideSuffixes(file string) []string {
	usual, other := allSideSuffixes()[:2:2], allSideSuffixes()[2:]
	if isThere(file+other[0]) || isThere(file+other[1]) {
		return other
	}
	return usual
}

// swap moves a database and what lies beside it aside, and another into its
// place. When the second step fails, the first is undone.
func swap(file, aside, with string) (err error) {
	var moved []string
	defer func() {
		if err != nil {
			for _, suffix := range moved {
				err = errors.Join(err, os.Rename(aside+suffix, file+suffix))
			}
		}
	}()
	for _, suffix := range append(sideSuffixes(file), "") {
		err := os.Rename(file+suffix, aside+suffix)
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		moved = append(moved, suffix)
	}
	if err := os.Rename(with, file); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
