package mirror

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// openFiles keeps files open between reads. Each open file belongs to one read
// at a time, so that its offset does too.
type openFiles struct {
	fs      vfs.FS
	clock   Clock
	maxIdle int
	verify  bool // keep block tables
	// fineBlocks counts the blocks whose pieces have checksums in memory.
	fineBlocks atomic.Int64

	mu     sync.Mutex
	oldest *handle // of the idle ones, in the order of their release
	newest *handle
	idle   int
	used   int
	closed bool
}

// handle is an open file of a local copy.
type handle struct {
	file  vfs.File
	entry *entry
	table *blockTable // of entry; nil without verification

	below        *handle // the next idle one of the same entry
	older, newer *handle // the neighbours among all idle ones
}

// A process that has too many files open gets this long to close some.
const (
	fileWaits = 100
	fileWait  = 50 * time.Millisecond
)

// take returns an idle open file of e, or nil.
func (o *openFiles) take(e *entry) *handle {
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
func (o *openFiles) open(ctx context.Context, e *entry, name string) (*handle, error) {
	var file vfs.File
	err := o.spare(ctx, func() (err error) {
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
		e.table = &blockTable{budget: &o.fineBlocks}
	}
	return &handle{file: file, entry: e, table: e.table}, nil
}

// spare calls open, which opens a file. When the process has too many open, it
// closes idle ones and tries again, and then waits for a while for others to
// be closed: slower is better than failing.
func (o *openFiles) spare(ctx context.Context, open func() error) error {
	for waits := 0; ; {
		err := open()
		if !isTooManyFiles(err) {
			return err
		}
		if o.shrink(1) > 0 {
			continue
		}
		if waits++; waits > fileWaits {
			return err
		}
		if o.clock.Sleep(ctx, fileWait) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

func isTooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// release gives a handle back after its read.
func (o *openFiles) release(h *handle) error {
	o.mu.Lock()
	o.used--
	if o.closed || h.entry.retired || o.maxIdle <= 0 {
		o.closing(h)
		o.mu.Unlock()
		return h.file.Close()
	}
	h.below, h.entry.idle = h.entry.idle, h
	h.older, h.newer = o.newest, nil
	if o.newest != nil {
		o.newest.newer = h
	} else {
		o.oldest = h
	}
	o.newest = h
	o.idle++
	var surplus *handle
	if o.idle > o.maxIdle {
		surplus = o.oldest
		o.unlink(surplus)
		o.closing(surplus)
	}
	o.mu.Unlock()
	if surplus != nil {
		return surplus.file.Close()
	}
	return nil
}

// discard closes a handle after its read.
func (o *openFiles) discard(h *handle) error {
	o.mu.Lock()
	o.used--
	o.closing(h)
	o.mu.Unlock()
	return h.file.Close()
}

// closing tells that a handle is about to be closed. o.mu is held.
func (o *openFiles) closing(h *handle) {
	if h.entry.opens--; h.entry.opens == 0 && h.entry.table != nil {
		h.entry.table.drop()
		h.entry.table = nil
	}
}

// retire closes the idle files of an entry that was replaced or removed; those
// in use are closed when their reads are.
func (o *openFiles) retire(e *entry) {
	o.mu.Lock()
	e.retired = true
	var closing []*handle
	for e.idle != nil {
		h := e.idle
		closing = append(closing, h)
		o.unlink(h)
		o.closing(h)
	}
	o.mu.Unlock()
	closeHandles(closing)
}

// shrink closes up to n idle files, those idle longest first, and returns how
// many.
func (o *openFiles) shrink(n int) int {
	o.mu.Lock()
	var closing []*handle
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
func (o *openFiles) unlink(h *handle) {
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
	for at := &h.entry.idle; *at != nil; at = &(*at).below {
		if *at == h {
			*at = h.below
			break
		}
	}
	h.older, h.newer, h.below = nil, nil, nil
	o.idle--
}

// close closes all idle files, and has those in use closed by their reads.
func (o *openFiles) close() {
	o.mu.Lock()
	o.closed = true
	idle := o.idle
	o.mu.Unlock()
	o.shrink(idle)
}

// count returns the number of open files.
func (o *openFiles) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.idle + o.used
}

// closeHandles closes files that were only read, whose close can lose nothing.
func closeHandles(handles []*handle) {
	for _, h := range handles {
		_ = h.file.Close()
	}
}

// readFile returns the bytes of a file of at most limit bytes.
func (o *openFiles) readFile(ctx context.Context, name string, limit int64) (data []byte, err error) {
	var file vfs.File
	err = o.spare(ctx, func() (err error) {
		file, err = o.fs.Open(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readFrom(file, limit)
}
