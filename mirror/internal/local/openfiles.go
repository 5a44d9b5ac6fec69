package local

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// OpenFiles keeps files open between reads. Each open file belongs to one read
// at a time, so that its offset does too.
type OpenFiles struct {
	fs      vfs.FS
	Clock   Waiter
	maxIdle int
	verify  bool      // keep block tables
	Buffers sync.Pool // of *[]byte, of a block
	// fineBlocks counts the blocks whose pieces have checksums in memory.
	fineBlocks atomic.Int64

	mu     sync.Mutex
	oldest *Handle // of the idle ones, in the order of their release
	newest *Handle
	idle   int
	used   int
	closed bool
}

// Waiter is the clock of waits.
type Waiter interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Handle is an open file of a local copy.
type Handle struct {
	File  vfs.File
	Entry *Entry
	table *BlockTable // of entry; nil without verification

	below        *Handle // the next idle one of the same entry
	older, newer *Handle // the neighbors among all idle ones
}

// A process that has too many files open gets this long to close some.
const (
	fileWaits = 100
	fileWait  = 50 * time.Millisecond
)

// take returns an idle open file of e, or nil.
func (o *OpenFiles) take(e *Entry) *Handle {
	o.mu.Lock()
	h := e.idle
	if h != nil {
		o.unlink(h)
		o.used++
	}
	o.mu.Unlock()
	return h
}

// open opens the file of e, which has the given name.
func (o *OpenFiles) open(ctx context.Context, e *Entry, name string) (*Handle, error) {
	var file vfs.File
	err := o.Spare(ctx, func() (err error) {
		file, err = o.fs.Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.used++
	e.opens++
	if o.verify && e.table == nil {
		e.table = &BlockTable{budget: &o.fineBlocks}
	}
	return &Handle{File: file, Entry: e, table: e.table}, nil
}

// Spare calls open, which opens a file. When the process has too many open, it
// closes idle ones and tries again, and then waits for a while for others to
// be closed: slower is better than failing.
func (o *OpenFiles) Spare(ctx context.Context, open func() error) error {
	for waits := 0; ; {
		err := open()
		if !IsTooManyFiles(err) {
			return err
		}
		if o.Shrink(1) > 0 {
			continue
		}
		if waits++; waits > fileWaits {
			return err
		}
		if o.Clock.Sleep(ctx, fileWait) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// IsTooManyFiles reports whether the process or the system has no descriptor left.
func IsTooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Release gives a handle back after its read.
func (o *OpenFiles) Release(h *Handle) error {
	o.mu.Lock()
	o.used--
	if o.closed || h.Entry.retired || o.maxIdle <= 0 {
		o.closing(h)
		o.mu.Unlock()
		return h.File.Close()
	}
	h.below, h.Entry.idle = h.Entry.idle, h
	h.older, h.newer = o.newest, nil
	if o.newest != nil {
		o.newest.newer = h
	} else {
		o.oldest = h
	}
	o.newest = h
	o.idle++
	var surplus *Handle
	if o.idle > o.maxIdle {
		surplus = o.oldest
		o.unlink(surplus)
		o.closing(surplus)
	}
	o.mu.Unlock()
	if surplus != nil {
		return surplus.File.Close()
	}
	return nil
}

// Discard closes a handle after its read.
func (o *OpenFiles) Discard(h *Handle) error {
	o.mu.Lock()
	o.used--
	o.closing(h)
	o.mu.Unlock()
	return h.File.Close()
}

// closing tells that a handle is about to be closed. o.mu is held.
func (o *OpenFiles) closing(h *Handle) {
	if h.Entry.opens--; h.Entry.opens == 0 && h.Entry.table != nil {
		h.Entry.table.drop()
		h.Entry.table = nil
	}
}

// retire closes the idle files of an entry that was replaced or removed; those
// in use are closed when their reads are.
func (o *OpenFiles) retire(e *Entry) {
	o.mu.Lock()
	e.retired = true
	var closing []*Handle
	for e.idle != nil {
		h := e.idle
		closing = append(closing, h)
		o.unlink(h)
		o.closing(h)
	}
	o.mu.Unlock()
	closeHandles(closing)
}

// Shrink closes up to n idle files, those idle longest first, and returns how
// many.
func (o *OpenFiles) Shrink(n int) int {
	o.mu.Lock()
	var closing []*Handle
	for len(closing) < n && o.oldest != nil {
		h := o.oldest
		closing = append(closing, h)
		o.unlink(h)
		o.closing(h)
	}
	o.mu.Unlock()
	closeHandles(closing)
	return len(closing)
}

// unlink takes an idle handle out of its lists. o.mu is held.
func (o *OpenFiles) unlink(h *Handle) {
	if h.older != nil {
		h.older.newer = h.newer
	} else {
		o.oldest = h.newer
	}
	if h.newer != nil {
		h.newer.older = h.older
	} else {
		o.newest = h.older
	}
	// The list of an entry is short: as long as its concurrent readers were
	// many.
	for at := &h.Entry.idle; *at != nil; at = &(*at).below {
		if *at == h {
			*at = h.below
			break
		}
	}
	h.older, h.newer, h.below = nil, nil, nil
	o.idle--
}

// Close closes all idle files, and has those in use closed by their reads.
func (o *OpenFiles) Close() {
	o.mu.Lock()
	o.closed = true
	idle := o.idle
	o.mu.Unlock()
	o.Shrink(idle)
}

// Count returns the number of open files.
func (o *OpenFiles) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle + o.used
}

// closeHandles closes files that were only read, whose close can lose nothing.
func closeHandles(handles []*Handle) {
	for _, h := range handles {
		_ = h.File.Close()
	}
}

// ReadFile returns the bytes of a file of at most limit bytes.
func (o *OpenFiles) ReadFile(ctx context.Context, name string, limit int64) (data []byte, err error) {
	var file vfs.File
	err = o.Spare(ctx, func() (err error) {
		file, err = o.fs.Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readFrom(file, limit)
}
