package payload

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/chunk"
)

// buffer is memory for one chunk, or for the bytes of an upload that are on their
// way into chunks.
type buffer struct {
	data []byte
	// refs counts the users of the data besides its owner.
	refs atomic.Int32

	slab  *buffer // that the buffer is a piece of
	piece int     // which
	taken uint16  // of a slab, which pieces are in use
}

// size returns what the buffer takes of the memory budget. A piece takes nothing;
// its slab does.
func (b *buffer) size() int64 {
	if b.slab != nil {
		return 0
	}
	return int64(cap(b.data))
}

func newBuffer(size int64) *buffer { return &buffer{data: make([]byte, 0, classSize(size))} }

// Buffers come in classes, eight for each power of two, from smallestBuffer to
// chunk.Max.
const (
	smallestBuffer = 4 << 10
	stepBits       = 3
)

// class returns the class of the buffers that hold size bytes, at most chunk.Max.
func class(size int64) int {
	n := uint64(max(size, smallestBuffer) - 1)
	shift := bits.Len64(n) - 1 - stepBits
	least := bits.Len64(smallestBuffer-1) - 1 - stepBits
	return (shift-least)<<stepBits + int(n>>shift) - (1<<(stepBits+1) - 1)
}

// classSize returns how large the buffers of size's class are.
func classSize(size int64) int64 {
	n := uint64(max(size, smallestBuffer) - 1)
	shift := bits.Len64(n) - 1 - stepBits
	return int64((n>>shift + 1) << shift)
}

// idleBuffers are buffers that wait for somebody who needs one.
type idleBuffers struct {
	classes [][]*buffer
	bytes   int64
}

// reach is how many classes above its own a size may take a buffer from, so that
// at most a third of it goes unused.
const reach = 3

// take returns an empty buffer for size bytes, or nil.
func (i *idleBuffers) take(size int64) *buffer {
	from := class(size)
	for c := from; c < len(i.classes) && c <= from+reach; c++ {
		if n := len(i.classes[c]); n > 0 {
			return i.remove(c)
		}
	}
	return nil
}

func (i *idleBuffers) remove(class int) *buffer {
	list := i.classes[class]
	b := list[len(list)-1]
	list[len(list)-1] = nil
	i.classes[class] = list[:len(list)-1]
	i.bytes -= b.size()
	b.data = b.data[:0]
	return b
}

func (i *idleBuffers) add(b *buffer) {
	if i.classes == nil {
		i.classes = make([][]*buffer, class(chunk.Max)+1)
	}
	c := class(b.size())
	i.classes[c] = append(i.classes[c], b)
	i.bytes += b.size()
}

// choose removes the smallest buffer of at least n bytes, or the largest when none
// is, or returns nil.
func (i *idleBuffers) choose(n int64) *buffer {
	best := -1
	for c := range i.classes {
		if len(i.classes[c]) > 0 {
			best = c
			if c >= class(min(n, chunk.Max)) {
				break
			}
		}
	}
	if best < 0 {
		return nil
	}
	return i.remove(best)
}

// Buffer is memory for one chunk, taken from a store's budget.
type Buffer struct {
	// Data are the chunk's bytes.
	Data []byte

	store *Store
	inner *buffer
}

// Buffer returns memory of size bytes, at most chunk.Max, or an error that wraps
// ErrNoMemory and names what it is for. The caller releases it.
func (s *Store) Buffer(ctx context.Context, size int64, what string) (*Buffer, error) {
	b, err := s.memory.get(ctx, size, what)
	if err != nil {
		return nil, err
	}
	return &Buffer{Data: b.data[:size], store: s, inner: b}, nil
}

// Release gives the memory back. Data must not be used any more.
func (b *Buffer) Release() {
	b.Data = nil
	b.store.memory.put(b.inner)
}
