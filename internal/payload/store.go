package payload

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
)

// Store is where payloads lie. All methods may be called concurrently.
type Store struct {
	catalog *catalog.Catalog
	heap    *heap.Heap
	log     *slog.Logger

	memory  *memory
	cache   *cache[[]byte] // the bytes of verified chunks
	vouched *cache[*vouched]
	seed    maphash.Seed // of the hashes of vouched blocks
	buffers bufferPool
	scratch sync.Pool // of *[blockSize]byte
}

// New returns the store in a catalog and a heap, which stay the caller's to
// close. Uploads, reads and the cache of verified chunks take at most memory bytes
// together.
func New(c *catalog.Catalog, h *heap.Heap, memory int64, log *slog.Logger) *Store {
	s := &Store{
		catalog: c, heap: h, log: log, seed: maphash.MakeSeed(),
		cache:   newCache(func(data []byte) int64 { return int64(len(data)) }),
		vouched: newCache((*vouched).cost),
	}
	s.scratch.New = func() any { return new([blockSize]byte) }
	s.memory = newMemory(memory, func() int64 {
		if n := s.cache.evict(); n > 0 {
			return n
		}
		return s.vouched.evict()
	})
	return s
}

// Uploads returns how many large uploads the memory has room for side by side,
// each at full speed.
func (s *Store) Uploads() int64 { return s.memory.limit / (pipelineBuffers * workingBuffer) }

// Held returns how many bytes of memory are in use by more than the caches.
func (s *Store) Held() int64 {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.used - s.cache.size() - s.vouched.size()
}

// stored says whether a chunk is in the file already.
type stored struct {
	row   catalog.Chunk // unless absent
	state storedState
}

type storedState int

const (
	absent  storedState = iota
	intact              // the bytes were compared
	damaged             // a new record must heal the row
)

// lookUp finds a chunk's row and compares the stored bytes, which costs less than
// a hash.
func (s *Store) lookUp(ctx context.Context, d digest.Digest, data []byte) (out stored, err error) {
	found := false
	err = s.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
		out.row, found, err = v.ChunkByDigest(d)
		return err
	})
	if err != nil || !found {
		return stored{}, err
	}
	same, err := s.heap.Equal(heap.Location{Offset: out.row.Offset, Size: out.row.Size}, data)
	if err != nil && !IsDamage(err) {
		return stored{}, err
	}
	out.state = intact
	if !same {
		out.state = damaged
		s.log.Warn("a stored chunk is damaged; an upload of the same bytes replaces it",
			"chunk", d.String(), "offset", out.row.Offset)
	}
	return out, nil
}
