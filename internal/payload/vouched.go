package payload

import (
	"hash/maphash"
	"unsafe"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
)

// blockSize is how many bytes of a chunk a random read reads and checks at least.
const blockSize = heap.BlockSize

// vouched is what a store remembers of a chunk that matched its digest, so that
// a later read of a few bytes need not read all of it: its place, and a hash of
// each block. The hashes are of the verified bytes, under a key that lives as
// long as the store and is not in the file. So any change at that place is
// noticed, even another whole record with matching checksums.
type vouched struct {
	location heap.Location
	blocks   []uint64
}

// cost is what a vouched chunk takes of the memory budget, with its place in the
// cache.
func (v *vouched) cost() int64 {
	const entry = 128 // the map's, the list's and the slices' own
	return int64(unsafe.Sizeof(*v)) + 8*int64(cap(v.blocks)) + entry
}

// vouch remembers the blocks of a chunk whose bytes have just been verified, while
// there is room.
func (s *Store) vouch(c *catalog.Chunk, data []byte) {
	v := &vouched{
		location: Place(c),
		blocks:   make([]uint64, 0, (len(data)+blockSize-1)/blockSize),
	}
	for rest := data; len(rest) > 0; {
		n := min(blockSize, len(rest))
		v.blocks = append(v.blocks, maphash.Bytes(s.seed, rest[:n]))
		rest = rest[n:]
	}
	if !s.memory.reserve(v.cost()) {
		return
	}
	s.memory.keep(v.cost())
	if old, replaced := s.vouched.put(c.ID, v); replaced {
		s.memory.evicted(old.cost())
	}
	for s.vouched.size() > s.memory.limit/vouchedShare && s.forgetVouched() {
	}
}

// forgetVouched forgets the least recently read chunk.
func (s *Store) forgetVouched() bool {
	v, ok := s.vouched.evict()
	if ok {
		s.memory.evicted(v.cost())
	}
	return ok
}

// vouchedShare is which part of the memory budget the hashes of blocks may take:
// with 1/32 of 256 MiB they cover about 40 GiB.
const vouchedShare = 32

// readBlocks fills p from an offset of a chunk, by the blocks that hold it. It
// reports false when a block is not what it was: then the whole chunk decides.
func (s *Store) readBlocks(p []byte, v *vouched, offset int64) (bool, error) {
	var scratch *[blockSize]byte
	for len(p) > 0 {
		begin := offset / blockSize * blockSize
		size := min(blockSize, v.location.Size-begin)
		whole := offset == begin && int64(len(p)) >= size
		block := p
		if whole {
			block = p[:size]
		} else {
			if scratch == nil {
				scratch = s.scratch.Get().(*[blockSize]byte)
				defer s.scratch.Put(scratch)
			}
			block = scratch[:size]
		}
		err := s.heap.ReadRaw(v.location, block, begin)
		if IsDamage(err) || err == nil && maphash.Bytes(s.seed, block) != v.blocks[begin/blockSize] {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		n := len(block)
		if !whole {
			n = copy(p, block[offset-begin:])
		}
		p = p[n:]
		offset += int64(n)
	}
	return true, nil
}
