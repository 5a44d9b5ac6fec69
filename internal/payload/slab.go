package payload

import (
	"math/bits"
	"slices"

	"github.com/stardustdb/stardust/internal/chunk"
)

// An upload's buffer has one of three sizes: it begins small, as many uploads
// are small, and ends as large as the largest chunk, since a cut may be that
// far away. Each smaller size is a sixteenth of the next, and cut out of it: a
// buffer with any piece in use is a slab, and whole again when none is. So no
// garbage is left when the needs of uploads change.
const (
	smallBuffer   = workingBuffer / pieces / pieces
	mediumBuffer  = workingBuffer / pieces
	workingBuffer = chunk.Max

	pieces   = 16
	allTaken = 1<<pieces - 1
)

// slabs are those of one size that have both used and free pieces.
type slabs []*buffer

// take returns a free piece, or nil.
func (s *slabs) take() *buffer {
	if len(*s) == 0 {
		return nil
	}
	slab := (*s)[len(*s)-1]
	b := slab.cut()
	if slab.taken == allTaken {
		*s = (*s)[:len(*s)-1]
	}
	return b
}

// begin makes a whole buffer a slab and returns its first piece.
func (s *slabs) begin(slab *buffer) *buffer {
	*s = append(*s, slab)
	return slab.cut()
}

// cut takes a free piece.
func (b *buffer) cut() *buffer {
	i := bits.TrailingZeros16(^b.taken)
	b.taken |= 1 << i
	size := cap(b.data) / pieces
	return &buffer{data: b.data[:cap(b.data)][i*size : i*size : (i+1)*size], slab: b, piece: i}
}

// put takes back a piece, and returns its slab when that is whole again.
func (s *slabs) put(b *buffer) *buffer {
	slab := b.slab
	full := slab.taken == allTaken
	slab.taken &^= 1 << b.piece
	switch {
	case slab.taken == 0:
		s.remove(slab)
		return slab
	case full:
		*s = append(*s, slab)
	}
	return nil
}

// extend turns a piece that is alone in its slab, at its beginning, into the
// whole slab, with the bytes that it has. Otherwise it returns nil.
func (s *slabs) extend(b *buffer) *buffer {
	slab := b.slab
	if slab == nil || slab.taken != 1 || b.piece != 0 {
		return nil
	}
	s.remove(slab)
	slab.taken = 0
	slab.data = slab.data[:len(b.data)]
	return slab
}

func (s *slabs) remove(slab *buffer) {
	if i := slices.Index(*s, slab); i >= 0 {
		*s = slices.Delete(*s, i, i+1)
	}
}
