package container

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// logFile is SQLite's write-ahead log, as one connection has it open, which
// uses it from one goroutine at a time.
//
// SQLite checks the log's own checksums when it recovers it, and never again:
// a page damaged later would be read as it is, and a checkpoint would give it a
// good checksum in the main database. So each page is checked when it is read.
type logFile struct {
	vfs.File
	c    *Container
	hook Hook

	// Frames from loose on have checksums that are not right yet: SQLite wrote a
	// page of its transaction over an earlier version of it, and computes the
	// checksums of what follows when it commits. Only this connection reads such
	// frames.
	loose  int64
	header int64 // the frame whose header was written last

	last  mark // the last commit written and not synced, as far as it goes
	frame [frameSize]byte
}

func newLogFile(c *Container) *logFile {
	return &logFile{File: &sideLog{c: c}, c: c, hook: c.hook, loose: math.MaxInt64, header: -1}
}

// ReadAt implements vfs.File.
func (f *logFile) ReadAt(p []byte, off int64) (int, error) {
	n, ok := framePage(off)
	if !ok || len(p) != PageSize || n >= f.loose {
		return f.File.ReadAt(p, off)
	}
	var before [8]byte
	read, err := f.File.ReadAt(before[:], checksumBefore(n))
	if read < len(before) {
		return 0, err
	}
	if read, err = f.File.ReadAt(f.frame[:], off-frameHeader); read < frameSize {
		return max(0, read-frameHeader), err
	}
	if !checkFrame(f.frame[:], before) {
		return 0, vfs.SystemError(fmt.Errorf("%w: frame %d of the write-ahead log does not match its checksum", ErrPage, n+1), sqlite3.IOERR_DATA)
	}
	return copy(p, f.frame[frameHeader:]), nil
}

// WriteAt implements vfs.File.
func (f *logFile) WriteAt(p []byte, off int64) (n int, err error) {
	if err := f.changing(p, off); err != nil {
		return 0, err
	}
	f.follow(p, off)
	defer func() {
		if err != nil {
			f.last = mark{}
		}
	}()
	if f.hook == nil {
		n, err = f.File.WriteAt(p, off)
		return n, writeError(err)
	}
	err = f.hook(Op{Kind: OpWrite, WAL: true, Offset: off, Data: [][]byte{p}}, func() (err error) {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, writeError(err)
}

// changing makes the file's notes ready for a write to the log.
func (f *logFile) changing(p []byte, off int64) error {
	if err := f.c.changeable(); err != nil {
		return err
	}
	if off == 0 && len(p) >= logHeader {
		return writeError(f.c.beginLog(p))
	}
	return nil
}

// follow keeps loose right. A frame is written header first, unless its page is
// written over; then SQLite writes the headers once more.
func (f *logFile) follow(p []byte, off int64) {
	page, isPage := framePage(off)
	header, isHeader := framePage(off + frameHeader)
	switch {
	case off == 0:
		f.loose, f.header = math.MaxInt64, -1 // the log begins anew
		f.last = mark{}
	case isHeader:
		f.header = header
		f.commit(p, header)
		if f.loose != math.MaxInt64 && header <= f.loose {
			f.loose = header + 1
		}
	case isPage && f.header != page && len(p) == PageSize:
		f.loose = min(f.loose, page)
	}
}

// commit remembers a frame's header if it ends a commit.
func (f *logFile) commit(p []byte, frame int64) {
	if len(p) >= frameHeader && binary.BigEndian.Uint32(p[4:]) != 0 {
		f.last = mark{frames: uint64(frame) + 1, sum: [8]byte(p[frameChecksum:])}
	}
}

// Truncate implements vfs.File. SQLite empties a log whose pages are all in the
// file.
func (f *logFile) Truncate(size int64) error {
	if err := f.c.changeable(); err != nil {
		return err
	}
	if size == 0 {
		if err := f.c.endLog(); err != nil {
			return writeError(err)
		}
	}
	return f.hook.run(Op{Kind: OpTruncate, WAL: true, Offset: size}, func() error { return f.File.Truncate(size) })
}

// Sync implements vfs.File. The first one makes the log's name durable too.
func (f *logFile) Sync(flags vfs.SyncFlag) error {
	if f.c.changeable() != nil {
		return nil // nothing was written
	}
	err := f.hook.run(Op{Kind: OpSync, WAL: true}, func() error { return f.File.Sync(flags) })
	if err == nil && f.last.frames > 0 {
		f.c.reachLog(f.last)
	}
	f.last = mark{}
	return syncError(err)
}
