package container

import (
	"errors"
	"io"
	"os"
	"sync"
)

// disk is the open file: all that is read from it and written to it, but for
// the locks, goes through here.
type disk struct {
	file *os.File
	hook Hook

	mu      sync.Mutex
	pages   uint64 // writes of pages that were begun
	durable uint64 // of these, those that a good sync covers
	lost    bool   // a failed sync may have lost pages; SQLite doesn't know yet
}

func (d *disk) readAt(p []byte, off int64) (int, error) {
	return d.file.ReadAt(p, off)
}

// write writes the pieces one after the other. A failed write may have written
// some of them.
func (d *disk) write(off int64, pieces ...[]byte) error {
	if d.hook == nil {
		return writePieces(d.file, off, pieces)
	}
	return d.hook(Op{Kind: OpWrite, Offset: off, Data: pieces}, func() error {
		return writePieces(d.file, off, pieces)
	})
}

// writePage writes a page and remembers that it is not durable yet.
func (d *disk) writePage(off int64, page []byte) error {
	d.mu.Lock()
	d.pages++
	d.mu.Unlock()
	return d.write(off, page)
}

// sync makes everything written before durable, and the file's size.
//
// After a failed sync the kernel has forgotten what it could not write, so a
// later good one proves nothing about it. Who writes the heap's records learns
// of the failure from this error; SQLite might not be the one that called, so
// its pages are remembered as lost until it is told, by syncPages.
func (d *disk) sync(why SyncReason) error {
	d.mu.Lock()
	begun := d.pages
	d.mu.Unlock()
	err := d.hook.run(Op{Kind: OpSync, Why: why}, func() error { return syncFile(d.file) })
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.durable = max(d.durable, begun)
	case d.pages > d.durable:
		d.lost = true
	}
	return err
}

// syncPages is SQLite's sync. It fails once after any sync failed, which makes
// SQLite keep its log and write the pages again.
func (d *disk) syncPages() error {
	err := d.sync(SyncPages)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && d.lost {
		err = ErrSyncLost
	}
	d.lost = false
	return err
}

func (d *disk) truncate(size int64) error {
	return d.hook.run(Op{Kind: OpTruncate, Offset: size}, func() error { return d.file.Truncate(size) })
}

func (d *disk) punch(off, n int64) (done bool, err error) {
	err = d.hook.run(Op{Kind: OpPunch, Offset: off, Size: n}, func() (err error) {
		done, err = punchFile(d.file, off, n)
		return err
	})
	return done, err
}

func (d *disk) size() (int64, error) {
	info, err := d.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }
