package payload

import (
	"runtime"

	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/heap"
)

// compressShare is which part of the memory budget compression may take, for
// good.
const compressShare = 8

// Compress makes the store compress chunks, as many side by side as there are
// processors and an eighth of the memory budget allows: that much of it is taken.
// Where the eighth is not enough for a large chunk, such are stored as they are, and
// below 2 MiB all are. Call it before the first upload.
func (s *Store) Compress() error {
	share := s.memory.limit / compressShare
	if share < 2*heap.PackerMemory {
		return nil
	}
	packers := max(1, min(int64(runtime.GOMAXPROCS(0)), share/(heap.PackerMemory+chunk.Max)))
	scratch := min(share/packers-heap.PackerMemory, chunk.Max)
	if err := s.heap.Compress(int(packers), scratch); err != nil {
		return err
	}
	s.memory.takeForGood(packers * (heap.PackerMemory + scratch))
	return nil
}
