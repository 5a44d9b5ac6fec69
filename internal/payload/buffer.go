package payload

import (
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/chunk"
)

// workingBuffer is the size of an upload's buffer: the largest chunk.
const workingBuffer = chunk.Max

// buffer is memory for one chunk of any size, or for the bytes of an upload
// that are on their way into chunks.
type buffer struct {
	data []byte
	// refs counts who still reads the data, when more than its owner do.
	refs atomic.Int32
}

// bufferPool keeps buffers for reuse, since a fresh one must be zeroed.
type bufferPool struct {
	pool sync.Pool
}

// get returns an empty buffer with room for the largest chunk.
func (p *bufferPool) get() *buffer {
	if b, ok := p.pool.Get().(*buffer); ok {
		b.data = b.data[:0]
		return b
	}
	return &buffer{data: make([]byte, 0, chunk.Max)}
}

// sized returns a buffer of size bytes, at most chunk.Max. A small one is made
// to measure: many streams of small payloads may be open at once.
func (p *bufferPool) sized(size int64) *buffer {
	if size < chunk.Min {
		return &buffer{data: make([]byte, size)}
	}
	b := p.get()
	b.data = b.data[:size]
	return b
}

// put takes a buffer back that nobody uses any more.
func (p *bufferPool) put(b *buffer) {
	if cap(b.data) == chunk.Max {
		p.pool.Put(b)
	}
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
func (s *Store) Buffer(size int64, what string) (*Buffer, error) {
	if err := s.memory.need(size, what); err != nil {
		return nil, err
	}
	b := s.buffers.sized(size)
	return &Buffer{Data: b.data, store: s, inner: b}, nil
}

// Release gives the memory back. Data must not be used any more.
func (b *Buffer) Release() {
	b.store.memory.release(int64(len(b.inner.data)))
	b.store.buffers.put(b.inner)
	b.Data = nil
}
