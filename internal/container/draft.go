package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotDraft says that the file is no draft that was left behind, but in use.
var ErrNotDraft = errors.New("it is not what an interrupted call left behind")

// Finish says that a draft is complete. It counts when the Container is closed.
func (c *Container) Finish() error {
	if err := c.Begin(); err != nil {
		return err
	}
	c.notes.Lock()
	defer c.notes.Unlock()
	c.log0.draft = false
	return c.writeBothNotes(SyncLogEnd)
}

// RemoveDraft removes a draft that somebody who was killed left behind, and
// what lies beside it. It is fine when there is none. The error is a
// *LockedError when somebody is still filling it, and wraps ErrNotDraft, or says
// what the file is, when it is no draft.
func RemoveDraft(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", path, ErrNotDraft)
	}
	f, _, err := openFile(path, false)
	if err != nil {
		return err
	}
	c := &Container{path: path, disk: &disk{file: f}}
	defer f.Close()
	if _, _, err := c.load(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.locks, err = openLocks(path); err != nil {
		return err
	}
	defer c.locks.close()
	if err := c.locks.set(writerByte, true); err != nil {
		return c.lockError(err)
	}
	n, kind, err := c.readNote(holderOff)
	switch {
	case err != nil:
		return err
	case kind != noteWhole || !n.draft:
		return fmt.Errorf("%s: %w", path, ErrNotDraft)
	}
	c.side.names = n.names
	return errors.Join(removeAny(path), removeAny(c.logPath()), removeAny(c.memoryPath()))
}

// removeAny removes a file that may be missing.
func removeAny(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
