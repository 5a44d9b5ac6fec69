package container

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// beginLog is called before SQLite writes a log's header: from here on the log
// with these salts is the file's, and all that the one before it held is in the
// file. Both notes say so, durably, before the log can hold anything.
func (c *Container) beginLog(header []byte) error {
	salts := [8]byte(header[logSalts:])
	c.notes.Lock()
	defer c.notes.Unlock()
	if c.log0.log.exists() && c.log0.log.salts != salts {
		c.log0.spent = c.log0.log
	}
	c.log0.log = mark{salts: salts}
	return c.writeBothNotes(SyncLog)
}

// endLog is called before a log is removed or emptied whose pages are all in the
// file, durably.
func (c *Container) endLog() error {
	c.notes.Lock()
	defer c.notes.Unlock()
	if !c.log0.log.exists() {
		return nil
	}
	c.log0.spent, c.log0.log = c.log0.log, mark{}
	return c.writeBothNotes(SyncLogEnd)
}

// reachLog notes that commits up to m are durable, before they are acknowledged.
// A note that is lost in a power cut asks for less than there is, which does
// no harm, so it is not synced; nor does it matter when it cannot be written.
func (c *Container) reachLog(m mark) {
	c.notes.Lock()
	defer c.notes.Unlock()
	if m.frames == c.log0.log.frames && m.sum == c.log0.log.sum {
		return
	}
	c.log0.log.frames, c.log0.log.sum = m.frames, m.sum
	if err := c.writeNote(holderOff); err != nil {
		c.log.Warn("the note of the last commit could not be written", "path", c.path, "error", err)
	}
}

// beginCheckpoint is called before pages of the file change: the trailer's note,
// which lies behind them, says first how much of the log they may hold.
func (c *Container) beginCheckpoint() error {
	c.notes.Lock()
	defer c.notes.Unlock()
	if c.behind == c.log0.log {
		return nil
	}
	at := c.trailerNote.Load()
	if at == 0 {
		return nil
	}
	if err := c.writeNote(at); err != nil {
		return err
	}
	c.behind = c.log0.log
	return nil
}

// writeBothNotes writes both notes and syncs them. c.notes is held.
func (c *Container) writeBothNotes(why SyncReason) error {
	if err := c.writeNote(holderOff); err != nil {
		return err
	}
	if at := c.trailerNote.Load(); at > 0 {
		if err := c.writeNote(at); err != nil {
			return err
		}
		c.behind = c.log0.log
	}
	return c.disk.sync(why)
}

// writeNote writes the note to one of its places. c.notes is held.
func (c *Container) writeNote(at int64) error {
	c.log0.sequence++
	return c.disk.write(at, c.log0.encode())
}

// changeable says whether SQLite may change anything yet.
func (c *Container) changeable() error {
	if c.begun.Load() {
		return nil
	}
	return vfs.SystemError(ErrReadOnly, sqlite3.READONLY)
}

// logHidden says that SQLite must not see the log that lies there. A reader that
// would have to be kept from one reads the file at rest.
func (c *Container) logHidden() bool { return c.side.hidden && !c.readOnly && !c.begun.Load() }
