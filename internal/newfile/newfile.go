// Package newfile gives a finished file the name under which others find it,
// and never takes another file's.
package newfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Name moves the file from to the name to, which must be free: the error is
// fs.ErrExist when it isn't, and from is left as it was.
//
// Where neither the system nor the file system can do this in one step, a file
// that appears under the name at this very moment is replaced.
func Name(from, to string) error { return name(from, to) }

// link is Name by hard links, and without them by looking first.
func link(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, there := os.Lstat(to); !errors.Is(there, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, there, err)
	}
	return os.Rename(from, to)
}

// NameDurably is Name, and the new name outlasts a power failure.
func NameDurably(from, to string) error {
	if err := Name(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
