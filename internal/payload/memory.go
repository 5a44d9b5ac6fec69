package payload

import "sync"

// memory counts what uploads, chunks being read and the cache take, in bytes, and
// keeps the sum within a limit. It owns none of it.
type memory struct {
	limit int64
	// reclaim gives back some memory that nobody needs, of the cache, and returns
	// how much: zero when there is none left.
	reclaim func() int64

	mu   sync.Mutex
	used int64
}

func newMemory(limit int64, reclaim func() int64) *memory {
	return &memory{limit: limit, reclaim: reclaim}
}

// reserve takes n bytes and reports whether they fit.
func (m *memory) reserve(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.used+n > m.limit {
		freed := m.reclaim()
		if freed == 0 {
			return false
		}
		m.used -= freed
	}
	m.used += n
	return true
}

// need is reserve with an error that says what did not fit.
func (m *memory) need(n int64, what string) error {
	if m.reserve(n) {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return fail(ErrNoMemory,
		"%s of %d bytes does not fit: %d bytes of the memory budget of %d are in use; close streams or raise Options.MemoryBudget",
		what, n, m.used, m.limit)
}

// release gives back n bytes.
func (m *memory) release(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
}
