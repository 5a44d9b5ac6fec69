package accounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// lockSuffix ends the name of an empty file beside the accounts. A change holds
// a lock on it from reading the accounts until they are replaced; not on the
// accounts' own file, which every change replaces. The file stays: removing it
// would separate those who wait for the lock from newcomers.
const lockSuffix = ".lock"

// change rewrites the file, whole or not at all. No other process changes it
// between what edit sees and what it leaves.
func (f *File) change(edit func(*content) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock, err := os.OpenFile(f.path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // and the lock is gone
	if err := flock(lock); err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	if err := f.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Others may be reading the current accounts, which stay in force if this
	// fails.
	next := &content{slices.Clone(f.content.Users), slices.Clone(f.content.Tokens), slices.Clone(f.content.LinkKey)}
	if err := edit(next); err != nil {
		return err
	}
	if err := f.replace(next); err != nil {
		return err
	}
	f.content = next
	return nil
}

// replace puts a new file in the place of the old one.
func (f *File) replace(next *content) error {
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(f.path), ".accounts-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return syncDirectory(filepath.Dir(f.path))
}

// syncDirectory makes a rename in a directory durable, where directories can be
// synced.
func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return nil // such as one that may be written but not read
	}
	_ = dir.Sync() // some file systems refuse it and don't need it
	return dir.Close()
}
