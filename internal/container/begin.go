package container

import (
	"errors"
	"os"
)

// newMode is what a new file's permissions are before the umask.
const newMode = 0o600

// Begin allows changes to the file, once the caller knows that it is good: it
// tidies the files beside it, heals a damaged slot, upgrades an older version,
// and notes who has the file. Without Options.Tentative, Open does this.
func (c *Container) Begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.readOnly:
		return ErrReadOnly
	case c.begun.Load():
		return nil
	}
	if err := c.setAside(); err != nil {
		return err
	}
	if c.damaged {
		c.log.Warn("one copy of the superblock was damaged; it is rewritten", "path", c.path)
		if err := c.writeSuper(c.super.extents, c.super.tail); err != nil {
			return err
		}
	}
	if err := c.beginNotes(); err != nil {
		return err
	}
	if err := c.makeLog(); err != nil {
		return err
	}
	if size, err := c.disk.size(); err != nil {
		return err
	} else if c.tail < size {
		if err := c.cut(c.tail); err != nil {
			return err
		}
	}
	if c.super.trailer == 0 {
		if err := c.upgrade(); err != nil {
			return err
		}
	}
	c.begun.Store(true)
	return c.locks.set(readyByte, true)
}

// beginNotes writes both notes with this process's name.
func (c *Container) beginNotes() error {
	c.notes.Lock()
	defer c.notes.Unlock()
	c.log0.holder = thisProcess()
	if err := c.writeNote(holderOff); err != nil {
		return err
	}
	at := c.trailerNote.Load()
	if at == 0 {
		return nil
	}
	c.behind = c.log0.log
	return c.writeNote(at)
}

// makeLog makes an empty log, which tells readers that there is a writer.
func (c *Container) makeLog() error {
	f, err := os.OpenFile(c.logPath(), os.O_RDWR|os.O_CREATE, c.mode)
	if err != nil {
		return err
	}
	return f.Close()
}

// upgrade makes a file of version 1 one of this version, which has a trailer.
// c.mu is held.
func (c *Container) upgrade() error {
	c.tail = align(c.tail, PageSize)
	at := c.tail
	c.tail += trailerSize
	c.log.Info("the file's format is upgraded", "path", c.path, "from", c.super.version, "to", FormatVersion)
	return c.moveTrailer(c.super.extents, at, func() { c.tail = at })
}

// moveTrailer writes a new trailer at the given place, and then puts it and the
// list of extents into effect. Everything before it is on the disk by then. The
// old one is free space from then on. c.mu is held.
func (c *Container) moveTrailer(list extents, at int64, undo func()) error {
	next := c.super
	next.version, next.trailer = FormatVersion, at
	next.extents, next.tail = list, c.tail
	c.notes.Lock()
	defer c.notes.Unlock()
	copied := next
	copied.generation++
	c.log0.sequence++
	err := c.disk.write(at, copied.encode(), notePage(&c.log0))
	if err == nil {
		err = c.disk.sync(SyncExtent)
	}
	if err != nil {
		undo()
		return err
	}
	c.durable = true
	// From here on the range stays taken whatever happens: a slot that may
	// have reached the disk names it.
	if err := c.replaceSuper(next); err != nil {
		return err
	}
	c.behind = c.log0.log
	old := c.trailerNote.Swap(next.noteOffset())
	if old == 0 {
		return nil
	}
	// A program that is copying the file has read the old superblock, and learns
	// here that what follows is newer.
	gone := c.log0
	gone.moved = true
	return c.disk.write(old, gone.encode())
}

// notePage returns a page that begins with a note.
func notePage(n *note) []byte {
	return append(n.encode(), make([]byte, PageSize-noteSize)...)
}

// Accepted returns what is missing from a file that was opened all the same
// because the options said so; otherwise nil. Its pages may be of different
// times then.
func (c *Container) Accepted() error { return c.side.accepted }

// Recovered reports whether commits were found in a log that somebody left.
func (c *Container) Recovered() bool {
	return c.side.fate == logOurs && !errors.Is(c.side.accepted, ErrLogMissing)
}
