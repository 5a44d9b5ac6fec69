package stardust

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
)

// chunkRow returns a chunk's row, whose size must be what the manifest says.
func (db *DB) chunkRow(ctx context.Context, s span) (c catalog.Chunk, err error) {
	err = db.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
		c, err = v.Chunk(s.row)
		return err
	})
	if err != nil {
		return c, asError(err)
	}
	if c.Size != s.size {
		return c, wrongSize(s, c.Size)
	}
	return c, nil
}

func wrongSize(s span, size int64) *Error {
	return damaged(nil, "chunk row %d has %d bytes, its manifest says %d", s.row, size, s.size)
}

func tooLarge(s span) *Error {
	return damaged(nil, "chunk row %d has %d bytes, more than a chunk can have", s.row, s.size)
}

// readChunk fills data, of the chunk's size, with its verified bytes. A damaged
// chunk is looked up a second time, since an upload may have healed it.
func (db *DB) readChunk(ctx context.Context, s span, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var last catalog.Chunk
	for try := range 2 {
		c, err := db.chunkRow(ctx, s)
		if err != nil {
			return err
		}
		if try > 0 && c.Offset == last.Offset {
			break
		}
		err = db.file.heap.Read(heap.Location{Offset: c.Offset, Size: c.Size}, c.Digest, data)
		if err == nil || !isDamage(err) {
			return asError(err)
		}
		last = c
	}
	return damaged(nil, "chunk %v at offset %d of the file does not match its digest; upload the same bytes again to heal it, or restore a backup",
		last.Digest, last.Offset)
}

// readBlocks fills p from the checksummed blocks of a chunk that was verified
// before. It reports false when a block does not match.
func (db *DB) readBlocks(ctx context.Context, p []byte, s span, offset int64) (bool, error) {
	c, err := db.chunkRow(ctx, s)
	if err != nil {
		return false, err
	}
	err = db.file.heap.ReadAt(heap.Location{Offset: c.Offset, Size: c.Size}, c.Digest, p, offset)
	if isDamage(err) {
		return false, nil
	}
	return err == nil, asError(err)
}

func isDamage(err error) bool {
	return errors.Is(err, heap.ErrCorrupt) || errors.Is(err, catalog.ErrCorrupt)
}
