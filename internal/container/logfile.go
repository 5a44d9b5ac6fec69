package container

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// logFile is SQLite's write-ahead log, as one connection has it open.
type logFile struct {
	vfs.File
	hook Hook
}

// WriteAt implements vfs.File.
func (f *logFile) WriteAt(p []byte, off int64) (n int, err error) {
	if f.hook == nil {
		return f.File.WriteAt(p, off)
	}
	err = f.hook(Op{Kind: OpWrite, WAL: true, Offset: off, Data: [][]byte{p}}, func() (err error) {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, writeError(err)
}

// Truncate implements vfs.File.
func (f *logFile) Truncate(size int64) error {
	return f.hook.run(Op{Kind: OpTruncate, WAL: true, Offset: size}, func() error { return f.File.Truncate(size) })
}

// Sync implements vfs.File. The first one makes the log's name durable too.
func (f *logFile) Sync(flags vfs.SyncFlag) error {
	err := f.hook.run(Op{Kind: OpSync, WAL: true}, func() error { return f.File.Sync(flags) })
	return vfs.SystemError(err, sqlite3.IOERR_FSYNC)
}
