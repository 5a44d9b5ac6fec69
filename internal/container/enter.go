package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// readyTimeout bounds how long a reader waits for a writer to find out which log
// is the file's own.
const readyTimeout = 10 * time.Second

// enter takes the locks that a writer or a reader needs.
func (c *Container) enter(o Options) error {
	if !o.ReadOnly {
		return c.enterWriter(o.LockTimeout)
	}
	// On a medium without locks nobody can write either.
	if err := c.locks.wait(presentByte, false, o.LockTimeout, nil); err != nil {
		return c.lockError(err)
	}
	return c.enterReader(o)
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

// enterReader decides how to read: beside a writer as that one does, otherwise
// as the log says. Where nothing can be created beside the file, SQLite cannot
// make its shared memory, and a log that is not the file's own must not be
// read; the file is read at rest then, and stays so while we hold the pin.
func (c *Container) enterReader(o Options) error {
	over := time.Now().Add(max(o.LockTimeout, readyTimeout)) //nolint:forbidigo // waits for another process
	for {
		atWork, err := c.beside(over)
		if atWork || err != nil {
			c.side.closed = false
			return err
		}
		if _, _, err := c.load(); err != nil {
			return err
		}
		if err := c.examine(o.AcceptMissingLog); err != nil {
			if busy, _ := c.locks.taken(writerByte); busy {
				continue // it may be the writer's doing
			}
			return err
		}
		fate := c.side.fate
		pinned := fate == logForeign || fate == logSpent || fate == logAbsent && c.side.names != usualNames
		if !pinned && (c.lies(c.logPath()) && c.lies(c.memoryPath()) || writableDir(c.dir())) {
			return nil
		}
		if fate == logOurs {
			return fmt.Errorf("%w: it was not closed cleanly, and its directory %s cannot be written; open it once where it can be written",
				ErrNotRecovered, c.dir())
		}
		switch err := c.locks.set(pinByte, false); {
		case err == nil && c.immutable:
			return nil
		case err == nil:
			c.immutable = true // look once more, now that nobody can come
		case errors.Is(err, errLockTaken) && time.Now().Before(over): //nolint:forbidigo // as above
			time.Sleep(lockPoll) //nolint:forbidigo // nothing announces the end of a lock
		default:
			return c.lockError(err)
		}
	}
}

// beside reports whether a writer is at work. It waits until that one knows which
// log is the file's own, and reads what it calls it.
func (c *Container) beside(over time.Time) (bool, error) {
	if c.immutable {
		return false, nil // we hold the pin
	}
	for {
		busy, err := c.locks.taken(writerByte)
		if !busy || err != nil {
			return false, err
		}
		ready, err := c.locks.taken(readyByte)
		if err != nil {
			return false, err
		}
		n, kind, err := c.readNote(holderOff)
		switch {
		case err != nil:
			return false, err
		case ready:
			c.side.names = n.names
			_, _, err := c.load()
			return true, err
		case c.super.version == oldestVersion && kind == noteOld:
			return true, nil // a program of that time does not say more
		case time.Now().After(over): //nolint:forbidigo // waits for another process
			return false, c.lockError(errLockTaken)
		}
		time.Sleep(lockPoll) //nolint:forbidigo // nothing announces the end of a lock
	}
}

// lockError turns errLockTaken into an error that names the holder.
func (c *Container) lockError(err error) error {
	if !errors.Is(err, errLockTaken) {
		return err
	}
	locked := &LockedError{Path: c.path}
	if n, _, err := c.readNote(holderOff); err == nil {
		locked.Holder = n.holder
	}
	return locked
}

// lies reports whether anything has that name.
func (c *Container) lies(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
