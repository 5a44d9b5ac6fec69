package payload

import (
	"container/list"
	"sync"
)

// cache keeps the bytes of verified chunks by row, the most recently used first.
// They are immutable, so a reader may go on with evicted ones. Its memory is
// reserved by those who put chunks in, and comes back by evict.
type cache struct {
	mu     sync.Mutex
	chunks map[int64]*list.Element
	recent *list.List // of cachedChunk
	bytes  int64
}

type cachedChunk struct {
	row  int64
	data []byte
}

func newCache() *cache {
	return &cache{chunks: make(map[int64]*list.Element), recent: list.New()}
}

// get returns the bytes of a verified chunk, or nil.
func (c *cache) get(row int64) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.chunks[row]
	if !ok {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(cachedChunk).data
}

// put takes over the bytes of a verified chunk, with the memory reserved for
// them. It reports false, and takes nothing, when it has the chunk already.
func (c *cache) put(row int64, data []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.chunks[row]; ok {
		return false
	}
	c.chunks[row] = c.recent.PushFront(cachedChunk{row, data})
	c.bytes += int64(len(data))
	return true
}

// evict forgets the chunk that was not used for longest, and returns how many
// bytes it had: zero when there is none.
func (c *cache) evict() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.recent.Back()
	if last == nil {
		return 0
	}
	chunk := c.recent.Remove(last).(cachedChunk)
	delete(c.chunks, chunk.row)
	c.bytes -= int64(len(chunk.data))
	return int64(len(chunk.data))
}

func (c *cache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
