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

// Place returns where a chunk's record lies.
func Place(c *catalog.Chunk) heap.Location {
	return heap.Location{Offset: c.Offset, Size: c.Size, Stored: c.Stored}
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

// CheckSize refuses a row of a chunk that is larger than any can be.
func CheckSize(c *catalog.Chunk) error { return span{row: c.ID, size: c.Size}.check() }

// ReadStored fills data with the verified bytes of a chunk, given its row as it was
// some time ago. Where the row is none any more, the record is read where it lay.
// Gone says that it is not there either, which is no damage.
func (s *Store) ReadStored(ctx context.Context, c *catalog.Chunk, data []byte) (gone bool, err error) {
	return s.withStored(ctx, c, func(c *catalog.Chunk) error { return s.heap.Read(Place(c), c.Digest, data) })
}

// CopyStored is ReadStored, and appends the chunk, as it is stored, to another heap.
// The buffer must be of its size.
func (s *Store) CopyStored(ctx context.Context, c *catalog.Chunk, buffer []byte, to *heap.Heap) (copied heap.Location, gone bool, err error) {
	gone, err = s.withStored(ctx, c, func(c *catalog.Chunk) (err error) {
		copied, err = s.heap.Copy(Place(c), c.Digest, buffer[:c.Stored], to)
		return err
	})
	return copied, gone, err
}

func (s *Store) withStored(ctx context.Context, c *catalog.Chunk, read func(*catalog.Chunk) error) (gone bool, err error) {
	if _, err = s.withChunk(ctx, span{row: c.ID, size: c.Size}, read); !IsDamage(err) {
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
	err = read(c)
	return IsDamage(err), err
}

// readChunk fills data, of the chunk's size, with its verified bytes, and returns
// its row.
func (s *Store) readChunk(ctx context.Context, at span, data []byte) (catalog.Chunk, error) {
	return s.withChunk(ctx, at, func(c *catalog.Chunk) error { return s.heap.Read(Place(c), c.Digest, data) })
}

// withChunk calls read with a chunk's row, and returns that. A damaged chunk is
// looked up a second time, since an upload may have healed it.
func (s *Store) withChunk(ctx context.Context, at span, read func(*catalog.Chunk) error) (c catalog.Chunk, err error) {
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
		err = read(&c)
		if err == nil || !IsDamage(err) {
			return c, err
		}
	}
	return c, fail(ErrDamaged, "chunk %v at offset %d of the file does not match its digest; upload the same bytes again to heal it, or restore a backup",
		c.Digest, c.Offset)
}
