package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// enter takes the locks that a writer or a reader needs.
func (c *Container) enter(o Options) error {
	if !o.ReadOnly {
		return c.enterWriter(o.LockTimeout)
	}
	// On a medium without locks nobody can write either.
	if err := c.locks.wait(presentByte, false, o.LockTimeout, nil); err != nil {
		return c.lockError(err)
	}
	return c.enterReader(o.LockTimeout)
}

func (c *Container) enterWriter(timeout time.Duration) error {
	if !writableDir(c.dir()) {
		return fmt.Errorf("%w: SQLite's log must lie beside it and the directory %s cannot be written; open it read-only",
			ErrReadOnly, c.dir())
	}
	for _, at := range []int64{writerByte, pinByte} {
		if err := c.locks.wait(at, true, timeout, nil); err != nil {
			return c.lockError(err)
		}
	}
	return c.lockError(c.locks.wait(presentByte, false, timeout, nil))
}

// enterReader decides how to read. Where nothing can be created beside the file,
// SQLite cannot make its shared memory. A writer has made it; without a writer
// the file is at rest, and stays so while we hold the pin.
func (c *Container) enterReader(timeout time.Duration) error {
	if c.exists("-wal") && c.exists("-shm") || writableDir(c.dir()) {
		return nil
	}
	atWork := func() bool { return c.exists("-wal") && c.exists("-shm") }
	err := c.locks.wait(pinByte, false, timeout, atWork)
	switch {
	case err == nil && c.exists("-wal"):
		return fmt.Errorf("%w: it was not closed cleanly, and its directory %s cannot be written; open it once where it can be written",
			ErrNotRecovered, c.dir())
	case err == nil:
		c.immutable = true
		return nil
	case errors.Is(err, errLockTaken) && atWork():
		return nil
	}
	return c.lockError(err)
}

// lockError turns errLockTaken into an error that names the holder.
func (c *Container) lockError(err error) error {
	if !errors.Is(err, errLockTaken) {
		return err
	}
	note := make([]byte, noteSize)
	locked := &LockedError{Path: c.path}
	if _, err := c.disk.readAt(note, holderOff); err == nil {
		locked.Holder = decodeHolder(note)
	}
	return locked
}

func (c *Container) exists(suffix string) bool {
	_, err := os.Lstat(c.path + suffix)
	return !errors.Is(err, fs.ErrNotExist)
}
