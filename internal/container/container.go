package container

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3/vfs"
)

// Container is an open file. All methods may be called concurrently. Close it
// after every SQLite connection that was opened through it.
type Container struct {
	path      string
	vfsName   string
	readOnly  bool
	immutable bool // at rest and pinned: no locks, log or shared memory of SQLite's
	disk      *disk
	locks     *locks
	sums      pageSums
	identity  [16]byte
	hook      Hook
	log       *slog.Logger

	mode    os.FileMode // of the file, and so of what lies beside it
	damaged bool        // one slot was, when the file was opened
	settled bool        // see Settled

	// side is set when the file is opened, and does not change after.
	side side
	// begun says that the file may be changed.
	begun atomic.Bool

	notes       sync.Mutex // guards log0 and behind, and the writing of notes
	log0        note       // the note as it is at the head
	behind      mark       // the log that the trailer's note has
	trailerNote atomic.Int64

	// pages is where SQLite's pages lie. It is replaced as a whole.
	pages atomic.Pointer[extents]

	// lastDamage is the page that was found damaged last.
	lastDamage atomic.Pointer[error]

	closing sync.Once

	mu      sync.Mutex // guards what follows
	super   superblock // as it is on the disk
	slot    int        // the slot that is known to be whole
	durable bool       // that slot is known to be on the disk
	tail    int64      // where the next range is taken from
	closed  bool
}

// Path returns the absolute path of the file, without symbolic links.
func (c *Container) Path() string { return c.path }

// Stat describes the open file, whatever is at its path by now.
func (c *Container) Stat() (fs.FileInfo, error) { return c.disk.file.Stat() }

// Identity returns 16 random bytes that tell this file from every other.
func (c *Container) Identity() [16]byte { return c.identity }

// Format returns the version of the file's format.
func (c *Container) Format() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.super.version)
}

// Settled reports whether the file was as a clean close left it when it was
// opened, and exactly as long as its superblock promises: nothing was cut off,
// and nothing follows what is in use.
func (c *Container) Settled() bool { return c.settled }

// ReadOnly reports whether the file was opened for reading only.
func (c *Container) ReadOnly() bool { return c.readOnly }

// Close trims the file to what is used, makes it durable and releases it. At
// rest the file is alone: a log that a connection left is written back first.
// The Container is closed even when the error is not nil; a second Close does
// nothing.
func (c *Container) Close() error {
	var err error
	c.closing.Do(func() { err = c.close() })
	return err
}

func (c *Container) close() error {
	var err error
	begun := c.begun.Load()
	if begun {
		err = c.checkpoint()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if begun {
		err = errors.Join(err, c.settle())
	}
	c.closed = true
	vfs.Unregister(c.vfsName)
	if begun || c.readOnly {
		err = errors.Join(err, c.leave())
	} else {
		err = errors.Join(err, c.restore())
	}
	return errors.Join(err, c.disk.file.Close(), c.locks.close())
}

// settle brings the file to rest. c.mu is held.
func (c *Container) settle() error {
	size, err := c.disk.size()
	if err != nil {
		return err
	}
	if size != c.tail {
		// The superblock promises a size; the promise is lowered before the file.
		if c.super.tail > c.tail {
			if err := c.writeSuper(c.super.extents, c.tail); err != nil {
				return err
			}
		}
		if err := c.disk.truncate(c.tail); err != nil {
			return err
		}
	}
	if c.super.tail != c.tail {
		if err := c.disk.sync(SyncSize); err != nil {
			return err
		}
		c.durable = true
		if err := c.writeSuper(c.super.extents, c.tail); err != nil {
			return err
		}
	}
	// No sync: the holder's name is for people; the lock decides. What the note
	// says about the log was made durable when the log ended.
	c.notes.Lock()
	defer c.notes.Unlock()
	c.log0.holder = Holder{}
	return c.writeNote(holderOff)
}

// leave removes what SQLite left beside the file, if nobody else has it open.
func (c *Container) leave() error {
	if c.immutable {
		return nil
	}
	if err := c.locks.set(presentByte, true); err != nil {
		return nil // somebody else has it open, or we may not write: theirs to remove
	}
	info, err := os.Stat(c.logPath())
	switch {
	case err == nil && info.Size() > 0:
		return nil // needs the recovery of the next writer
	case err == nil:
		err = c.remove(c.logPath())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	gone := os.Remove(c.memoryPath())
	if errors.Is(gone, fs.ErrNotExist) {
		gone = nil
	}
	return errors.Join(err, gone)
}

func (c *Container) remove(path string) error {
	return c.hook.run(Op{Kind: OpRemove, WAL: true}, func() error { return os.Remove(path) })
}

func (c *Container) dir() string { return filepath.Dir(c.path) }
