package container

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/newfile"
)

// side is what is known of the files beside the database's own: the log and its
// shared memory.
type side struct {
	names    logNames
	fate     logFate
	hidden   bool   // SQLite must not see the log that lies there
	closed   bool   // whoever had the file last closed it, by what its notes say
	accepted error  // what is lacking, when the caller took the older state
	memory   []byte // the shared memory as it was, nil when there was none
	recalled bool   // memory is known
}

func (c *Container) logPath() string    { return c.path + c.side.names.log() }
func (c *Container) memoryPath() string { return c.path + c.side.names.memory() }

// Beside returns the paths of the files that lie beside an open one.
func (c *Container) Beside() []string { return []string{c.logPath(), c.memoryPath()} }

// chooseNames picks names for log and shared memory that no stranger's file has.
// Names in use stay. looksOurs says that a log must be there.
func (c *Container) chooseNames(n *note, kind noteKind) error {
	if kind == noteWhole && n.log.exists() {
		c.side.names = n.names
		return nil
	}
	for names := range endOfNames {
		free, err := nameIsFree(c.path+names.log(), looksLikeLog)
		if err == nil && free {
			free, err = nameIsFree(c.path+names.memory(), looksLikeMemory)
		}
		if err != nil {
			return err
		}
		if free {
			c.side.names = names
			return nil
		}
	}
	return fmt.Errorf("%w: %s, or %s, and %s, or %s, are somebody's files; move them away", ErrOccupied,
		c.path+usualNames.log(), c.path+usualNames.memory(), c.path+otherNames.log(), c.path+otherNames.memory())
}

// nameIsFree reports whether nothing lies there, or only what SQLite could have
// left.
func nameIsFree(path string, ours func([]byte) bool) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return true, nil // whoever may read it finds out
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	p := make([]byte, 16)
	n, err := io.ReadFull(f, p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return ours(p[:n]), nil
}

// looksLikeMemory says whether these are the first bytes of SQLite's shared
// memory: its version, in the order of a machine that is little endian, or
// nothing yet.
func looksLikeMemory(p []byte) bool {
	if len(p) < 4 {
		return len(p) == 0
	}
	return [4]byte(p) == [4]byte{} || [4]byte(p) == [4]byte{0x18, 0xe2, 0x2d, 0x00}
}

// examine finds out what the log beside the file is. Nobody writes meanwhile.
func (c *Container) examine(accept bool) error {
	e := evidence{}
	var err error
	if e.head, e.headKind, err = c.readNote(holderOff); err != nil {
		return err
	}
	at := c.super.noteOffset()
	if e.oneNote = at == 0; !e.oneNote {
		if e.trailer, e.trailerKind, err = c.readNote(at); err != nil {
			return err
		}
	}
	known, kind := e.head, e.headKind
	if kind != noteWhole {
		known, kind = e.trailer, e.trailerKind
	}
	if err := c.chooseNames(&known, kind); err != nil {
		return err
	}
	if e.log, err = c.scan(&e); err != nil {
		return err
	}
	c.side.fate, err = e.judge()
	if err != nil && !accept {
		return err
	}
	if c.side.accepted = err; err != nil && c.side.fate == logForeign && !e.log.header {
		c.side.fate = logAbsent
	}
	c.side.hidden = c.side.fate != logOurs
	c.side.closed = err == nil && c.side.fate == logAbsent && kind == noteWhole && !known.log.exists()
	c.log0 = note{draft: known.draft, sequence: max(e.head.sequence, e.trailer.sequence), names: c.side.names}
	if err != nil {
		known = note{} // if its log comes back, it must not pass for one that is spent
	}
	if c.side.fate == logOurs {
		c.log0.log = mark{e.log.salts, e.log.commits, e.log.sum}
	}
	if known.log.exists() && c.side.fate == logSpent {
		known.log = mark{} // it never began: nothing was ever written to it
	}
	for _, m := range []mark{known.log, known.spent} {
		if m.exists() && m.salts != c.log0.log.salts {
			c.log0.spent = m
			break
		}
	}
	return nil
}

// scan reads the log, if there is one.
func (c *Container) scan(e *evidence) (*scannedLog, error) {
	f, err := os.Open(c.logPath())
	if errors.Is(err, fs.ErrNotExist) {
		return &scannedLog{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	salts := e.head.log.salts
	if !e.head.log.exists() {
		salts = e.trailer.log.salts
	}
	return scanLog(f, info.Size(), salts,
		e.head.log.frames, e.head.spent.frames, e.trailer.log.frames, e.trailer.spent.frames)
}

func (c *Container) readNote(off int64) (note, noteKind, error) {
	p := make([]byte, noteSize)
	if n, err := c.disk.readAt(p, off); n < len(p) && !isEOF(err) {
		return note{}, noteDamaged, err
	}
	n, kind := decodeNote(p)
	return n, kind, nil
}

// recall keeps the shared memory that a process left, so that a refusal leaves
// it as it was. Whoever opens it first makes it anew.
func (c *Container) recall() error {
	p, err := os.ReadFile(c.memoryPath())
	if errors.Is(err, fs.ErrNotExist) {
		p, err = nil, nil
	}
	c.side.memory, c.side.recalled = p, err == nil
	if errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return err
}

// restore undoes what SQLite did to the shared memory.
func (c *Container) restore() error {
	if !c.side.recalled || c.locks.set(presentByte, true) != nil {
		return nil // somebody uses it
	}
	if c.side.memory == nil {
		err := os.Remove(c.memoryPath())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	f, err := os.OpenFile(c.memoryPath(), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(c.side.memory)
	return errors.Join(err, f.Close())
}

// setAside gives a stranger's log a name that says so, and keeps a copy of an
// own one that is damaged.
func (c *Container) setAside() error {
	_, err := os.Lstat(c.logPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return err
	case c.side.fate == logForeign:
		to := c.logPath() + ".foreign-" + randomHex()
		c.log.Warn("a write-ahead log beside the database is not its own; it is set aside", "path", c.path, "log", to)
		return c.hook.run(Op{Kind: OpRemove, WAL: true}, func() error { return newfile.Name(c.logPath(), to) })
	case c.side.fate == logOurs && c.side.accepted != nil:
		to := c.logPath() + ".damaged-" + randomHex()
		c.log.Warn("the database's write-ahead log is damaged; a copy is set aside", "path", c.path, "log", to)
		return copyNew(c.logPath(), to)
	case c.side.fate == logSpent, c.side.fate == logAbsent:
		return c.hook.run(Op{Kind: OpTruncate, WAL: true}, func() error { return os.Truncate(c.logPath(), 0) })
	}
	return nil
}

// copyNew copies a file to a new one with the same permissions.
func copyNew(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
