package container

import (
	"fmt"
	"slices"
)

// Punch gives the whole pages of a range that nothing names back to the file
// system. It reports false where that cannot be done. The range reads as zeros, or as
// what it held, until something is written to it.
func (c *Container) Punch(off, n int64) (bool, error) {
	if !c.begun.Load() {
		return false, ErrReadOnly
	}
	begin, end := align(off, PageSize), (off+n)/PageSize*PageSize
	if begin >= end {
		return true, nil
	}
	return c.disk.punch(begin, end-begin)
}

// Sizes returns the file's size, and how many bytes of the file system it takes.
func (c *Container) Sizes() (size, stored int64, err error) {
	info, err := c.disk.file.Stat()
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), storedBytes(info), nil
}

// TrimPages takes extents from SQLite's database behind its end, and returns what is
// free then. Only whole extents go, so that their list never outgrows its slot. All
// of the database must be in the file, with nothing in its log, and nobody may
// write to it meanwhile. Who reads it has the same pages at the same places.
func (c *Container) TrimPages() ([]Extent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.mayChange(); err != nil {
		return nil, err
	}
	list := c.super.extents
	size, err := c.databaseSize(make([]byte, PageSize))
	if err != nil {
		return nil, err
	}
	n := 1
	for n < len(list) && list[:n].capacity() < size {
		n++
	}
	if n == len(list) {
		return nil, nil
	}
	gone := append(slices.Clone(list[n:]), Extent{c.super.trailer, trailerSize})
	from := c.tail
	at, err := c.take(trailerSize, PageSize)
	if err != nil {
		return nil, err
	}
	err = c.moveTrailer(slices.Clone(list[:n]), at, func() { c.untake(from, Extent{at, trailerSize}) })
	if err != nil {
		return nil, err
	}
	c.log.Debug("room for SQLite's pages given back", "path", c.path, "extents", len(gone)-1)
	return gone, nil
}

// TrailerSize is how many bytes a trailer takes.
const TrailerSize = trailerSize

// LowestTrailer returns where a trailer can lie at the earliest, and where it lies.
func (c *Container) LowestTrailer() (earliest, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earliest = headSize
	for _, e := range c.super.extents {
		earliest = max(earliest, e.End())
	}
	return earliest, c.super.trailer
}

// LowerTrailer puts the trailer at a place of TrailerSize bytes that nothing else
// has, and returns the one that is free then.
func (c *Container) LowerTrailer(at int64) (Extent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := Extent{c.super.trailer, trailerSize}
	if err := c.mayChange(); err != nil {
		return old, err
	}
	for _, e := range c.super.extents {
		if at%PageSize != 0 || at < e.End() || at+trailerSize > c.tail {
			return old, fmt.Errorf("%s: no trailer can lie at %d", c.path, at)
		}
	}
	return old, c.moveTrailer(c.super.extents, at, func() {})
}
