package payload

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/heap"
)

// span is the place of one chunk within a payload.
type span struct {
	row   int64 // of the chunk
	start int64 // in the payload
	size  int64
}

func (at span) end() int64 { return at.start + at.size }

func (at span) wrongSize(size int64) error {
	return fail(ErrDamaged, "chunk row %d has %d bytes, its manifest says %d", at.row, size, at.size)
}

// check refuses a chunk that is larger than any can be.
func (at span) check() error {
	if at.size > chunk.Max {
		return fail(ErrDamaged, "chunk row %d has %d bytes, more than a chunk can have", at.row, at.size)
	}
	return nil
}

// chunkRow returns a chunk's row, whose size must be what the manifest says.
func (s *Store) chunkRow(ctx context.Context, at span) (c catalog.Chunk, err error) {
	err = s.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
		c, err = v.Chunk(at.row)
		return err
	})
	if IsDamage(err) {
		if gone, ok := s.departed.chunk(at.row); ok {
			c, err = gone, nil
		}
	}
	if err == nil && c.Size != at.size {
		err = at.wrongSize(c.Size)
	}
	return c, err
}

// ReadChunk fills data, of the chunk's size, with the verified bytes of the chunk
// of a row.
func (s *Store) ReadChunk(ctx context.Context, row int64, data []byte) error {
	_, err := s.readChunk(ctx, span{row: row, size: int64(len(data))}, data)
	return err
}

// ReadStored fills data with the verified bytes of a chunk, given its row as it
// was some time ago. If the row no longer exists, the record is read at its old
// place. gone says that it is not there either, which is no damage.
func (s *Store) ReadStored(ctx context.Context, c *catalog.Chunk, data []byte) (gone bool, err error) {
	if err = s.ReadChunk(ctx, c.ID, data); !IsDamage(err) {
		return false, err
	}
	found := true
	look := s.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
		_, found, err = v.FindChunk(c.ID)
		return err
	})
	if look != nil || found {
		return false, err
	}
	err = s.heap.Read(heap.Location{Offset: c.Offset, Size: c.Size}, c.Digest, data)
	return IsDamage(err), err
}

// CheckSize refuses a row of a chunk that is larger than any can be.
func CheckSize(c *catalog.Chunk) error { return span{row: c.ID, size: c.Size}.check() }

// readChunk fills data, of the chunk's size, with its verified bytes, and returns
// its row. A damaged chunk is looked up a second time, since an upload may have
// healed it.
func (s *Store) readChunk(ctx context.Context, at span, data []byte) (c catalog.Chunk, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	for try := range 2 {
		last := c.Offset
		if c, err = s.chunkRow(ctx, at); err != nil {
			return c, err
		}
		if try > 0 && c.Offset == last {
			break
		}
		err = s.heap.Read(heap.Location{Offset: c.Offset, Size: c.Size}, c.Digest, data)
		if err == nil || !IsDamage(err) {
			return c, err
		}
	}
	return c, fail(ErrDamaged, "chunk %v at offset %d of the file does not match its digest; upload the same bytes again to heal it, or restore a backup",
		c.Digest, c.Offset)
}
