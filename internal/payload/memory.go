package payload

import (
	"context"
	"runtime"
	"sync"

	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/invariants"
)

// idleKept is how much memory of unused buffers a store keeps when nobody holds
// any: enough for the next large upload.
const idleKept = 16 << 20

// leastIdle is the size from which buffers are kept for reuse.
const leastIdle = 64 << 10

// memory counts what uploads, chunks being read and the caches take, in bytes, and
// keeps the sum within a limit. What is counted is what is allocated: buffers come
// from here and go back here, where they wait for the next who needs one.
type memory struct {
	limit int64
	fixed int64 // what of the budget is not in the limit, but in use for good
	// reclaim gives back something that nobody needs, by release, put or evicted,
	// and reports false when there is nothing left. It is called without mu.
	reclaim func() bool

	mu      sync.Mutex
	used    int64 // by everything, the idle buffers and the caches included
	idle    idleBuffers
	medium  slabs // cut into buffers of mediumBuffer
	small   slabs // cut into buffers of smallBuffer
	kept    int64 // of used, by the caches, which give it back when asked
	ahead   int64 // of used, by work that is under way and soon gives it back
	waiting int   // those who wait for such work
	dropped int64 // buffers that are not counted any more, but not collected yet
	changed chan struct{}
}

func newMemory(limit int64, reclaim func() bool) *memory {
	return &memory{limit: limit, reclaim: reclaim, changed: make(chan struct{})}
}

// takeForGood takes n bytes that never come back.
func (m *memory) takeForGood(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit -= n
	m.fixed += n
}

// held returns how many bytes are in use by more than the caches.
func (m *memory) held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used - m.kept - m.idle.bytes
}

// fits makes room for n bytes, if others can give theirs up, and takes them.
// m.mu is held, but released in between.
func (m *memory) fits(n int64) bool {
	for m.used+n > m.limit {
		if b := m.idle.choose(m.used + n - m.limit); b != nil {
			m.drop(b)
			continue
		}
		m.mu.Unlock()
		more := m.reclaim()
		m.mu.Lock()
		if !more && m.used-m.idle.bytes+n > m.limit {
			return false
		}
	}
	m.used += n
	return true
}

// drop leaves a buffer to the garbage collector. m.mu is held.
func (m *memory) drop(b *buffer) {
	m.used -= b.size()
	if b.size() < leastIdle {
		return
	}
	m.dropped += b.size()
	runtime.AddCleanup(b, func(n int64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.dropped -= n
	}, b.size())
}

// recycle keeps a buffer for reuse. m.mu is held.
func (m *memory) recycle(b *buffer) {
	if b.slab != nil && cap(b.data) == smallBuffer {
		b = m.small.put(b)
	}
	if b != nil && b.slab != nil {
		b = m.medium.put(b)
	}
	switch {
	case b == nil:
	case b.size() < leastIdle:
		m.drop(b)
	default:
		m.idle.add(b)
	}
	m.wake()
}

// reserve takes n bytes and reports whether they fit. It does not wait.
func (m *memory) reserve(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fits(n)
}

// release gives back n bytes.
func (m *memory) release(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	m.balanced()
	m.wake()
}

// balanced checks that nobody gave back more than was taken. m.mu is held.
func (m *memory) balanced() {
	invariants.Check(m.kept >= 0 && m.used >= m.kept, "memory in use is %d bytes, of which the caches have %d", m.used, m.kept)
}

// evicted gives back n bytes of a cache's.
func (m *memory) evicted(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept -= n
	m.used -= n
	m.balanced()
	m.wake()
}

// keep notes that n bytes, taken already, belong to a cache from now on.
func (m *memory) keep(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept += n
}

// wake lets the waiting ones look again. m.mu is held.
func (m *memory) wake() {
	if m.waiting > 0 {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	if m.used == m.kept+m.idle.bytes {
		for m.idle.bytes > idleKept {
			m.drop(m.idle.choose(chunk.Max))
		}
	}
}

// get returns a buffer with room for size bytes, at most chunk.Max. While only
// work that gives its memory back by itself stands in the way, it waits for that,
// or for the end of ctx. The error names what the buffer was for.
func (m *memory) get(ctx context.Context, size int64, what string) (*buffer, error) {
	return m.await(ctx, what, size, func() *buffer { return m.whole(size) })
}

// working is get for an upload's buffer, of one of the sizes that these have. A
// smaller one is a piece of a larger where there is room for that, and otherwise
// as large as it need be.
func (m *memory) working(ctx context.Context, size int64, what string) (*buffer, error) {
	large := func() *buffer {
		if m.used-m.kept-m.idle.bytes+workingBuffer > m.limit {
			return m.idle.take(workingBuffer)
		}
		return m.whole(workingBuffer)
	}
	medium := func() *buffer {
		if b := m.piece(&m.medium, large); b != nil {
			return b
		}
		return m.whole(mediumBuffer)
	}
	return m.await(ctx, what, size, func() *buffer {
		switch size {
		case smallBuffer:
			if b := m.piece(&m.small, medium); b != nil {
				return b
			}
		case mediumBuffer:
			return medium()
		}
		return m.whole(size)
	})
}

// whole returns a buffer outside any slab, or nil when there is no room. m.mu
// is held.
func (m *memory) whole(size int64) *buffer {
	if b := m.idle.take(size); b != nil {
		return b
	}
	if m.fits(classSize(size)) {
		return newBuffer(size)
	}
	return nil
}

// piece returns a piece of a slab, existing or new, or nil. m.mu is held.
func (m *memory) piece(of *slabs, slab func() *buffer) *buffer {
	if b := of.take(); b != nil {
		return b
	}
	if b := slab(); b != nil {
		return of.begin(b)
	}
	return nil
}

// await tries until there is a buffer, or nothing to wait for.
func (m *memory) await(ctx context.Context, what string, size int64, try func() *buffer) (*buffer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		if b := try(); b != nil {
			return b, nil
		}
		if m.ahead == 0 {
			return nil, fail(ErrNoMemory,
				"%s of %d bytes does not fit: %d bytes of the memory budget of %d are in use; close streams or raise Options.MemoryBudget",
				what, size, m.fixed+m.used-m.kept-m.idle.bytes, m.fixed+m.limit)
		}
		changed := m.changed
		m.waiting++
		m.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		m.mu.Lock()
		m.waiting--
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// extend makes a working buffer larger without copying, if it can be.
func (m *memory) extend(b *buffer) *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if cap(b.data) == smallBuffer {
		return m.small.extend(b)
	}
	return m.medium.extend(b)
}

// getAhead returns a buffer for work ahead, which is under way until settled or
// put, or nil when there is no room without taking work ahead from others, or
// others wait for memory.
func (m *memory) getAhead(size int64) *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting > 0 {
		return nil
	}
	b := m.idle.take(size)
	if b == nil {
		if n := classSize(size); m.used+m.dropped-m.idle.bytes-m.kept+n > m.limit || !m.fits(n) {
			return nil
		}
		b = newBuffer(size)
	}
	m.ahead += b.size()
	return b
}

// settle notes that n bytes of work ahead are no longer under way.
func (m *memory) settle(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead -= n
	m.wake()
}

// putAhead takes back a buffer of work ahead that was under way.
func (m *memory) putAhead(b *buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead -= b.size()
	m.recycle(b)
}

// put takes back a buffer that nobody uses any more.
func (m *memory) put(b *buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recycle(b)
}
