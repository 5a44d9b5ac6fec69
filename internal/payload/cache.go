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
	hold func(V)       // keeps a value that get returns from being used again

	mu     sync.Mutex
	items  map[int64]*list.Element
	recent *list.List // of cached[V]
	bytes  int64
}

type cached[V any] struct {
	row   int64
	value V
}

func newCache[V any](cost func(V) int64, hold func(V)) *cache[V] {
	return &cache[V]{cost: cost, hold: hold, items: make(map[int64]*list.Element), recent: list.New()}
}

// get returns what is kept for a row, held, and whether there is anything.
func (c *cache[V]) get(row int64) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[row]
	if !ok {
		return v, false
	}
	c.recent.MoveToFront(e)
	v = e.Value.(cached[V]).value
	c.hold(v)
	return v, true
}

// put takes over a value, with the memory reserved for it. It returns the row's
// previous value, if any.
func (c *cache[V]) put(row int64, v V) (old V, replaced bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[row]; ok {
		old, replaced = c.remove(e), true
	}
	c.items[row] = c.recent.PushFront(cached[V]{row, v})
	c.bytes += c.cost(v)
	return old, replaced
}

// evict forgets the least recently used value, and reports false when there is
// none. The caller gives back what put and evict return.
func (c *cache[V]) evict() (old V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.recent.Back()
	if last == nil {
		return old, false
	}
	return c.remove(last), true
}

func (c *cache[V]) remove(e *list.Element) V {
	item := c.recent.Remove(e).(cached[V])
	delete(c.items, item.row)
	c.bytes -= c.cost(item.value)
	return item.value
}

func (c *cache[V]) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
