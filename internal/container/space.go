package container

import (
	"cmp"
	"fmt"
	"slices"
)

// Take takes n bytes from the tail and returns where they begin, at a multiple
// of 64. Nothing is written: what lies there is whatever the caller writes. After
// a crash ranges that nothing names are free again.
func (c *Container) Take(n int64) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.take(n, recordUnit)
}

func (c *Container) take(n, unit int64) (int64, error) {
	if err := c.mayChange(); err != nil {
		return 0, err
	}
	off := align(c.tail, unit)
	if n < 0 || off+n < off {
		return 0, fmt.Errorf("take %d bytes of the file %s: out of range", n, c.path)
	}
	c.tail = off + n
	return off, nil
}

// Tail returns the end of what is in use. After Open that is the end of the
// file, until SetTail says where the last record ends.
func (c *Container) Tail() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tail
}

// SetTail says that nothing after end is in use. The file is cut there. Nothing
// may be taken from the tail or written behind end meanwhile.
func (c *Container) SetTail(end int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	end = max(end, c.super.fixedEnd())
	if end-c.tail > 0 && end-c.tail < recordUnit && !c.readOnly {
		c.tail = end // a record is padded to where the next one may begin
	}
	if end > c.tail && !c.readOnly {
		return fmt.Errorf("%w: records reach to %d, the file ends at %d", ErrTruncated, end, c.tail)
	}
	if c.readOnly || end == c.tail {
		return nil
	}
	if !c.begun.Load() { // the file is cut when it may be changed
		c.tail = end
		return nil
	}
	return c.cut(end)
}

// GiveBack cuts the file down to from, after which nothing is in use, unless something
// was taken since it ended at end. What other processes were promised of it stays,
// unless all is to go. It returns where the file is cut, end when it isn't.
func (c *Container) GiveBack(from, end int64, all bool) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mayChange(); err != nil {
		return end, err
	}
	if from = max(from, c.super.fixedEnd()); !all {
		from = max(from, c.super.tail)
	}
	if c.tail != end || from >= end {
		return end, nil
	}
	if err := c.cut(from); err != nil {
		return end, err
	}
	return from, nil
}

// mayChange returns why nothing in the file may be changed, if so. c.mu is held.
func (c *Container) mayChange() error {
	switch {
	case c.closed:
		return ErrClosed
	case c.readOnly, !c.begun.Load():
		return ErrReadOnly
	}
	return nil
}

// cut makes the file end at end. c.mu is held.
func (c *Container) cut(end int64) error {
	if end < c.super.tail { // a promise that must be lowered first
		if err := c.writeSuper(c.super.extents, end); err != nil {
			return err
		}
	}
	if err := c.disk.truncate(end); err != nil {
		return err
	}
	c.tail = end
	return nil
}

// CheckEnd returns ErrTruncated when the file is shorter than end. Call it with
// the end of the last record that the catalog names before anything is written.
func (c *Container) CheckEnd(end int64) error {
	size, err := c.disk.size()
	if err != nil {
		return err
	}
	if size < end {
		return fmt.Errorf("%w: %s has %d bytes, its records reach to %d; restore it from a backup",
			ErrTruncated, c.path, size, end)
	}
	return nil
}

// Reserved returns the ranges that are not records: the head of the file, the
// extents of SQLite's pages and the trailer, in order.
func (c *Container) Reserved() []Extent {
	c.mu.Lock()
	defer c.mu.Unlock()
	ranges := c.super.reserved()
	slices.SortFunc(ranges, func(a, b Extent) int { return cmp.Compare(a.Offset, b.Offset) })
	return ranges
}

// WriteAt writes the pieces one after the other, beginning at off, with one
// system call where there is one for it. The range must have been taken. A
// failed write may have written a part.
func (c *Container) WriteAt(off int64, pieces ...[]byte) error {
	if !c.begun.Load() {
		return ErrReadOnly
	}
	return c.disk.write(off, pieces...)
}

// ReadAt reads len(p) bytes at off. It returns io.EOF when the file ends before.
func (c *Container) ReadAt(p []byte, off int64) (int, error) {
	return c.disk.readAt(p, off)
}

// ReadPieces fills the pieces with the bytes at off, one after the other. It
// returns io.EOF when the file ends before.
func (c *Container) ReadPieces(off int64, pieces ...[]byte) error {
	return readPieces(c.disk.file, off, pieces)
}

// Sync makes durable what was written before. After an error, what was written
// since the last good Sync may be lost, even when a later Sync succeeds.
func (c *Container) Sync() error { return c.disk.sync(SyncRecords) }

// growPages adds room for SQLite's database up to need bytes. The new pages are
// on the disk before the superblock names them, and the superblock is before
// SQLite uses them.
func (c *Container) growPages(need int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	have := c.super.extents.capacity()
	if need <= have {
		return nil
	}
	size := c.super.extents.growth(need)
	from := c.tail
	off, err := c.take(size+trailerSize, PageSize)
	if err != nil {
		return err
	}
	e, taken := Extent{off, size}, Extent{off, size + trailerSize}
	longer := c.super.extents.with(e)
	if len(longer) > maxExtents {
		return fmt.Errorf("%s: SQLite's database needs %d bytes, more than the file's list of extents can name", c.path, need)
	}
	if err := writeBlankPages(c.disk, c.sums, e, have); err != nil {
		c.untake(from, taken)
		return err
	}
	if err := c.moveTrailer(longer, e.End(), func() { c.untake(from, taken) }); err != nil {
		return err
	}
	c.log.Debug("room for SQLite's pages added", "path", c.path, "offset", off, "size", size)
	return nil
}

// untake gives a range back when it is still the last one that was taken.
func (c *Container) untake(from int64, e Extent) {
	if c.tail == e.End() {
		c.tail = from
	}
}

// writeSuper makes a new superblock durable and then says so. The slot known to
// be whole is written last, as a copy, once the other one is safe. c.mu is held
// or nobody else has the Container yet.
func (c *Container) writeSuper(list extents, tail int64) error {
	next := c.super
	next.extents, next.tail = list, tail
	return c.replaceSuper(next)
}

// replaceSuper does the work of writeSuper.
func (c *Container) replaceSuper(next superblock) error {
	next.generation = c.super.generation + 1
	if !c.durable {
		// Found when the file was opened, the slot may be one that a process
		// wrote just before it died, of which only the kernel knows.
		if err := c.disk.sync(SyncSuperblock); err != nil {
			return err
		}
		c.durable = true
	}
	p := next.encode()
	other := slots - 1 - c.slot
	c.super.generation++ // never used twice, even if this fails half way
	if err := c.disk.write(int64(other)*PageSize, p); err != nil {
		return err
	}
	if err := c.disk.sync(SyncSuperblock); err != nil {
		return err
	}
	whole := c.slot
	c.super, c.slot = next, other
	c.pages.Store(&next.extents)
	// Durable with the next sync; until then the slot just written is enough.
	return c.disk.write(int64(whole)*PageSize, p)
}

// reloadPages learns of extents that the writer added since. Only a read-only
// Container has anything to learn.
func (c *Container) reloadPages() error {
	if !c.readOnly {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, slot, _, err := readSuperblock(c.disk.readAt)
	if err != nil {
		return err
	}
	if s.identity != c.identity {
		return fmt.Errorf("%w: another file took the place of %s", ErrPage, c.path)
	}
	if s.generation > c.super.generation {
		c.super, c.slot = *s, slot
		c.pages.Store(&s.extents)
	}
	return nil
}
