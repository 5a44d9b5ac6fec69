package payload

import (
	"container/list"
	"sync"
)

// cache keeps what is known of chunks by row, the most recently used first. Its
// values are immutable, so a reader may go on with evicted ones. Its memory is
// reserved by those who put values in, and comes back by evict.
type cache[V any] struct {
	cost func(V) int64 // in bytes

	mu     sync.Mutex
	items  map[int64]*list.Element
	recent *list.List // of cached[V]
	bytes  int64
}

type cached[V any] struct {
	row   int64
	value V
}

func newCache[V any](cost func(V) int64) *cache[V] {
	return &cache[V]{cost: cost, items: make(map[int64]*list.Element), recent: list.New()}
}

// get returns what is kept of a row, or the zero value.
func (c *cache[V]) get(row int64) (v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[row]
	if !ok {
		return v
	}
	c.recent.MoveToFront(e)
	return e.Value.(cached[V]).value
}

// put takes over a value, with the memory reserved for it, in place of what it
// had for the row. It returns how much memory of the latter is to be released.
func (c *cache[V]) put(row int64, v V) (released int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[row]; ok {
		released = c.remove(e)
	}
	c.items[row] = c.recent.PushFront(cached[V]{row, v})
	c.bytes += c.cost(v)
	return released
}

// evict forgets the value that was not used for longest, and returns how much
// memory it had: zero when there is none.
func (c *cache[V]) evict() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := c.recent.Back(); last != nil {
		return c.remove(last)
	}
	return 0
}

// remove forgets a value and returns how much memory it had. c.mu is held.
func (c *cache[V]) remove(e *list.Element) int64 {
	item := c.recent.Remove(e).(cached[V])
	delete(c.items, item.row)
	n := c.cost(item.value)
	c.bytes -= n
	return n
}

func (c *cache[V]) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
