package heap

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/digest"
)

// File is what the heap needs of its file. *container.Container is one.
type File interface {
	// Take takes n bytes from the end of what is in use, at a multiple of 64.
	Take(n int64) (int64, error)
	// Tail returns the end of what is in use.
	Tail() int64
	// SetTail says that nothing follows end, and cuts the file there.
	SetTail(end int64) error
	// GiveBack cuts the file down to from, of which nothing is in use, unless
	// something was taken since it ended at end; it returns where the file is cut.
	// What other processes were promised of it stays, unless all is to go.
	GiveBack(from, end int64, all bool) (int64, error)
	// CheckEnd fails when the file is shorter than end.
	CheckEnd(end int64) error
	// Punch gives the whole pages of a range back to the file system, and reports
	// whether that can be done.
	Punch(off, n int64) (bool, error)
	// Reserved returns what is in use by others.
	Reserved() []container.Extent
	// WriteAt writes the pieces one after the other.
	WriteAt(off int64, pieces ...[]byte) error
	// ReadAt reads len(p) bytes or returns an error.
	ReadAt(p []byte, off int64) (int, error)
	// ReadPieces fills the pieces from bytes one after the other.
	ReadPieces(off int64, pieces ...[]byte) error
	// Sync makes what was written before durable.
	Sync() error
}

// ErrLost is wrapped by the error of a Sync that found records, written before a
// failed one, no longer readable, so that it could not write them again.
var ErrLost = errors.New("chunks were lost by a failed sync")

// syncAhead is how many bytes are appended before they are synced in the
// background, so that the Sync at the end has little left to do. Of 32 to 256
// MiB this was the fastest: 1.5 times the rate of one sync at the end.
const syncAhead = 64 << 20

// Heap appends and reads records. All methods but Close may be called
// concurrently. The file is the caller's, who closes it after the Heap.
type Heap struct {
	file     File
	packers  chan *packer // that have nothing to do, nil when nothing is compressed
	unpacker *unpacker

	mu   sync.Mutex
	free *free
	// Records that are not named any more, and not free yet.
	retired []Location
	// What was written since the last good sync, by offset. A failed sync moves
	// it to suspect: the kernel may have dropped it.
	fresh   map[int64]record
	suspect map[int64]record
	failed  uint64 // syncs
	bytes   int64  // appended since the last sync began
	ahead   bool   // a sync ahead is under way

	work sync.WaitGroup // the sync ahead

	syncs syncGroup

	learning sync.Mutex   // held while live is asked
	ignorant atomic.Bool  // live was not asked yet
	live     func() error // calls SetLive
}

// record is what it takes to write a record again.
type record struct {
	location Location
	digest   digest.Digest
}

// New returns the heap in a file. Until SetLive or SetLiveLater only the file's
// end is used for new records.
func New(file File) *Heap {
	return &Heap{
		file: file, unpacker: newUnpacker(), free: newFree(),
		fresh: make(map[int64]record), suspect: make(map[int64]record),
	}
}

// Append writes a chunk to the file, compressed if Compress was called and that
// makes it smaller. It is durable, and may be named by a catalog, after a Sync that
// begins later and succeeds. Many Appends write at the same time; data is not
// copied and not kept. After an error the space is free again.
func (h *Heap) Append(digest digest.Digest, data []byte) (Location, error) {
	if len(data) > MaxSize {
		return Location{}, fmt.Errorf("append a chunk of %d bytes: the largest has %d", len(data), MaxSize)
	}
	if h.packers != nil && len(data) >= leastPacked {
		if loc, packed, err := h.appendPacked(digest, data); packed {
			return loc, err
		}
	}
	return h.write(newHeader(digest, data), data)
}

// appendPacked is Append of a chunk that gets smaller, and reports whether it does.
func (h *Heap) appendPacked(digest digest.Digest, data []byte) (loc Location, packed bool, err error) {
	p := <-h.packers
	defer func() { h.packers <- p }()
	head, body := p.pack(digest, data)
	if head == nil {
		return Location{}, false, nil
	}
	loc, err = h.write(head, body)
	return loc, true, err
}

// write writes a record.
func (h *Heap) write(head *header, body []byte) (Location, error) {
	loc := Location{Size: head.size, Stored: head.stored()}
	var failed uint64
	err := h.Learn()
	if err != nil {
		return Location{}, fmt.Errorf("append a chunk of %d bytes: %w", head.size, err)
	}
	if loc.Offset, failed, err = h.reserve(loc.span()); err != nil {
		return Location{}, err
	}
	if err := h.file.WriteAt(loc.Offset, head.encode(), body); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.release(loc)
		return Location{}, fmt.Errorf("append a chunk of %d bytes: %w", head.size, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if failed == h.failed {
		h.fresh[loc.Offset] = record{loc, head.digest}
	} else { // a sync failed meanwhile, and may have dropped our bytes
		h.suspect[loc.Offset] = record{loc, head.digest}
	}
	if h.bytes += loc.Stored; h.bytes >= syncAhead && !h.ahead {
		h.ahead = true
		h.work.Go(h.runAhead)
	}
	return loc, nil
}

// runAhead syncs ahead. An error is not lost: the records are suspect then, and the
// next Sync writes them again.
func (h *Heap) runAhead() {
	_ = h.Sync()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead = false
}

// Close waits for what the heap does in the background. It makes nothing durable.
// Nothing may be appended after.
func (h *Heap) Close() { h.work.Wait() }

// reserve finds a range, and returns how many syncs have failed until now.
func (h *Heap) reserve(n int64) (off int64, failed uint64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	off, ok := h.free.take(n)
	if !ok {
		off, err = h.file.Take(n)
	}
	return off, h.failed, err
}

// release makes a record's range free. h.mu is held.
func (h *Heap) release(loc Location) { h.free.add(loc.Offset, loc.span()) }

// Free gives back the space of a record that neither a catalog names nor a
// commit that may yet succeed. Its bytes may be overwritten at once.
func (h *Heap) Free(loc Location) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.fresh, loc.Offset)
	delete(h.suspect, loc.Offset)
	h.release(loc)
}

// FreeBytes returns how many bytes of the file are free for new records, as far as
// that can be known.
func (h *Heap) FreeBytes() int64 {
	_ = h.Learn() // then less is known
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.free.total
}
