package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
)

// publish makes a draft's payload readable, atomically and durably.
func (db *DB) publish(ctx context.Context, d *draft) error {
	var surplus []heap.Location
	_, err := db.commit(ctx, &write{
		chunks: true,
		plan: func(p *planner) (err error) {
			surplus, err = p.publish(d)
			return err
		},
	})
	db.settle(d, surplus, err)
	return err
}

// settle frees what a publication did not need. After a failed commit nothing
// is freed: whether it took place shows only at the next open.
func (db *DB) settle(d *draft, surplus []heap.Location, err error) {
	if err != nil && refusal(err) {
		d.abandon()
		return
	}
	d.finish()
	if err == nil {
		for _, location := range surplus {
			db.file.heap.Free(location)
		}
	}
}

// publish writes the rows of a draft's chunks and payload. It returns the new
// records that turned out to be stored already, by an upload that was faster.
func (p *planner) publish(d *draft) (surplus []heap.Location, err error) {
	d.published = Published{Digest: d.digest, Size: d.size}
	rows := make([]int64, len(d.chunks))
	for i := range d.chunks {
		c := &d.chunks[i]
		row, used, err := p.publishChunk(c)
		if err != nil {
			return nil, err
		}
		if c.fresh && !used {
			surplus = append(surplus, c.location)
		}
		rows[i] = row
	}
	_, found, err := p.tx.Payload(d.digest)
	if err != nil || found {
		d.published.Deduplicated = found
		return surplus, err
	}
	payload := catalog.Payload{Digest: d.digest, Size: d.size}
	return surplus, p.tx.PutPayload(&payload, func(yield func(catalog.Entry) bool) {
		for _, i := range d.order {
			if !yield(catalog.Entry{Chunk: rows[i], Size: d.chunks[i].size}) {
				return
			}
		}
	})
}

// publishChunk returns the row of a chunk, and whether the draft's own record
// is what the row names.
func (p *planner) publishChunk(c *draftChunk) (row int64, used bool, err error) {
	switch {
	case c.row != 0 && !c.fresh:
		return c.row, false, nil
	case c.row != 0:
		return c.row, true, p.tx.MoveChunk(c.row, c.location.Offset)
	}
	stored, found, err := p.tx.ChunkByDigest(c.digest)
	if err != nil || found {
		return stored.ID, false, err
	}
	fresh := catalog.Chunk{Digest: c.digest, Offset: c.location.Offset, Size: c.size}
	err = p.tx.PutChunk(&fresh)
	return fresh.ID, true, err
}
