package payload

import (
	"hash/maphash"
	"log/slog"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
)

// Store is where payloads lie. All methods may be called concurrently.
type Store struct {
	catalog *catalog.Catalog
	heap    *heap.Heap
	log     *slog.Logger

	memory   *memory
	cache    *cache[*buffer] // the bytes of verified chunks
	vouched  *cache[*vouched]
	seed     maphash.Seed // of the hashes of vouched blocks
	scratch  sync.Pool    // of *[blockSize]byte
	aheads   aheads
	departed departed
}

// New returns the store in a catalog and a heap, which stay the caller's to
// close. Uploads, reads and the caches take at most memory bytes together.
func New(c *catalog.Catalog, h *heap.Heap, memory int64, log *slog.Logger) *Store {
	s := &Store{
		catalog: c, heap: h, log: log, seed: maphash.MakeSeed(),
		cache:   newCache((*buffer).size, func(b *buffer) { b.refs.Add(1) }),
		vouched: newCache((*vouched).cost, func(*vouched) {}),
	}
	s.scratch.New = func() any { return new([blockSize]byte) }
	s.memory = newMemory(memory, func() bool { return s.uncache() || s.forgetVouched() || s.aheads.reclaim(s) })
	return s
}

// Uploads returns how many large uploads the memory has room for side by side,
// each at full speed.
func (s *Store) Uploads() int64 { return s.memory.limit / (pipelineBuffers * workingBuffer) }

// Held returns how many bytes of memory are in use by more than the caches.
func (s *Store) Held() int64 { return s.memory.held() }

// cachedChunk returns the bytes of a verified chunk, which the caller drops, or
// nil when they are not in the cache.
func (s *Store) cachedChunk(at span) (*buffer, error) {
	b, ok := s.cache.get(at.row)
	if !ok {
		return nil, nil
	}
	if size := int64(len(b.data)); size != at.size {
		s.drop(b)
		return nil, at.wrongSize(size)
	}
	return b, nil
}

// keepChunk puts the bytes of a verified chunk into the cache.
func (s *Store) keepChunk(row int64, b *buffer) {
	b.refs.Add(1)
	s.memory.keep(b.size())
	if old, replaced := s.cache.put(row, b); replaced {
		s.uncached(old)
	}
}

// uncache drops the least recently used chunk from the cache.
func (s *Store) uncache() bool {
	b, ok := s.cache.evict()
	if ok {
		s.uncached(b)
	}
	return ok
}

func (s *Store) uncached(b *buffer) {
	s.memory.keep(-b.size())
	s.drop(b)
}

// drop ends a use of a buffer. The last use gives it back.
func (s *Store) drop(b *buffer) {
	if b.refs.Add(-1) == 0 {
		s.memory.put(b)
	}
}
