package payload

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

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
	same, err := s.heap.Equal(Place(&out.row), data)
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
