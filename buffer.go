package stardust

import (
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/chunk"
)

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

// get returns an empty buffer with room for uploadBuffer bytes.
func (p *bufferPool) get() *buffer {
	if b, ok := p.pool.Get().(*buffer); ok {
		b.data = b.data[:0]
		return b
	}
	return &buffer{data: make([]byte, 0, uploadBuffer)}
}

// sized returns a buffer of size bytes, at most uploadBuffer. A small one is
// made to measure: many streams of small payloads may be open at once.
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
	if cap(b.data) == uploadBuffer {
		p.pool.Put(b)
	}
}
