package stardust

import (
	"container/list"
	"fmt"
	"sync"
)

// budget shares the database's memory, in bytes, among upload buffers, chunks
// being read and the cache of verified chunks. The cache takes what the others
// leave and gives it back when they ask.
type budget struct {
	mu    sync.Mutex
	limit int64
	used  int64 // by everything, the cache included

	// The cache: verified chunks by row id, the most recently used first.
	// Their bytes are immutable, so a reader may go on with an evicted one.
	chunks map[int64]*list.Element
	recent *list.List
}

type cachedChunk struct {
	id   int64
	data []byte
}

func newBudget(limit int64) *budget {
	return &budget{limit: limit, chunks: make(map[int64]*list.Element), recent: list.New()}
}

// reserve takes n bytes and reports whether they fit.
func (b *budget) reserve(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.take(n)
}

func (b *budget) take(n int64) bool {
	for b.used+n > b.limit && b.recent.Len() > 0 {
		b.evict(b.recent.Back())
	}
	if b.used+n > b.limit {
		return false
	}
	b.used += n
	return true
}

func (b *budget) release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
}

func (b *budget) evict(e *list.Element) {
	c := b.recent.Remove(e).(*cachedChunk)
	delete(b.chunks, c.id)
	b.used -= int64(len(c.data))
}

// cached returns the bytes of a verified chunk, or nil.
func (b *budget) cached(id int64) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.chunks[id]
	if !ok {
		return nil
	}
	b.recent.MoveToFront(e)
	return e.Value.(*cachedChunk).data
}

// keep puts a verified chunk into the cache. Its bytes, which the caller has
// reserved, are the cache's from now on and must not change.
func (b *budget) keep(id int64, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.chunks[id]; ok {
		b.used -= int64(len(data))
		return
	}
	b.chunks[id] = b.recent.PushFront(&cachedChunk{id, data})
}

// outOfMemory says what did not fit.
func (b *budget) outOfMemory(n int64, what string) *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Error{
		Status: StatusOutOfMemory,
		Message: fmt.Sprintf("%s of %d bytes does not fit: %d bytes of the memory budget of %d are in use; close streams or raise Options.MemoryBudget",
			what, n, b.used, b.limit),
	}
}
