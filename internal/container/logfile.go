package container

import (
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
	hook Hook

	// Frames from loose on have checksums that are not right yet: SQLite wrote a
	// page of its transaction over an earlier version of it, and computes the
	// checksums of what follows when it commits. Only this connection reads such
	// frames.
	loose  int64
	header int64 // the frame whose header was written last
	frame  [frameSize]byte
}

func newLogFile(file vfs.File, hook Hook) *logFile {
	return &logFile{File: file, hook: hook, loose: math.MaxInt64, header: -1}
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
	f.follow(p, off)
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

// follow keeps loose right. A frame is written header first, unless its page is
// written over; then SQLite writes the headers once more.
func (f *logFile) follow(p []byte, off int64) {
	page, isPage := framePage(off)
	header, isHeader := framePage(off + frameHeader)
	switch {
	case off == 0:
		f.loose, f.header = math.MaxInt64, -1 // the log begins anew
	case isHeader:
		f.header = header
		if f.loose != math.MaxInt64 && header <= f.loose {
			f.loose = header + 1
		}
	case isPage && f.header != page && len(p) == PageSize:
		f.loose = min(f.loose, page)
	}
}

// Truncate implements vfs.File.
func (f *logFile) Truncate(size int64) error {
	return f.hook.run(Op{Kind: OpTruncate, WAL: true, Offset: size}, func() error { return f.File.Truncate(size) })
}

// Sync implements vfs.File. The first one makes the log's name durable too.
func (f *logFile) Sync(flags vfs.SyncFlag) error {
	err := f.hook.run(Op{Kind: OpSync, WAL: true}, func() error { return f.File.Sync(flags) })
	return syncError(err)
}
