package bucketdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// chunkPage is how many rows of chunks are read at a time.
const chunkPage = 512

// chunks adds the chunks after a position to a batch, and sends their bytes in
// packs. It returns once these are durable.
func (p *pusher) chunks(ctx context.Context, b *batch.Batch, at replica.Position) (end replica.Position, err error) {
	compressor, err := batch.NewCompressor()
	if err != nil {
		return at, err
	}
	defer compressor.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.options.Workers)
	k := packer{pusher: p, batch: b, compressor: compressor, group: group}
	err = k.fill(ctx, &at)
	if err == nil {
		err = k.send(ctx)
	}
	// The first error is the cause: it ended the context of the others.
	if sent := group.Wait(); sent != nil {
		err = sent
	}
	return at, err
}

// packer fills packs with chunks.
type packer struct {
	*pusher
	batch      *batch.Batch
	compressor *batch.Compressor
	group      *errgroup.Group
	pack       batch.Pack
}

// fill adds chunks until the batch is full or there are no more.
func (k *packer) fill(ctx context.Context, at *replica.Position) error {
	for at.Chunk < k.goal.Chunk && len(k.batch.Rows.Chunks) < k.options.batchChunks && len(k.batch.Packs) < k.options.Workers {
		chunks, err := k.db.Chunks(ctx, at.Chunk, k.goal.Chunk, min(chunkPage, k.options.batchChunks))
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			at.Chunk = k.goal.Chunk // the last ones were removed
			return nil
		}
		for _, c := range chunks {
			if err := k.add(ctx, c); err != nil {
				return err
			}
			at.Chunk = c.Row
			if len(k.batch.Packs) == k.options.Workers {
				break
			}
		}
	}
	return nil
}

// add puts a chunk into the pack, and sends that when it is full.
func (k *packer) add(ctx context.Context, c replica.Chunk) error {
	var place batch.Place
	err := k.db.read(ctx, c, func(data []byte) error {
		place = k.pack.Add(c.Digest, data, k.compressor)
		return nil
	})
	if err != nil {
		return err
	}
	place.Pack = len(k.batch.Packs)
	k.batch.Rows.Chunks = append(k.batch.Rows.Chunks, c)
	k.batch.Places = append(k.batch.Places, place)
	k.report.Chunks++
	k.report.Bytes += c.Size
	k.progress()
	if k.pack.Len() < k.options.packSize {
		return nil
	}
	return k.send(ctx)
}

// send sends the pack, unless it is empty, in parallel with others.
func (k *packer) send(ctx context.Context) error {
	if k.pack.Len() == 0 {
		return nil
	}
	data := k.pack.Finish()
	k.pack = batch.Pack{}
	// Nobody may introduce a pack from behind the horizon, whatever the time is.
	name, err := ulid.New(max(ulid.Timestamp(k.options.Now()), uint64(k.batch.Horizon)+1), k.options.random)
	if err != nil {
		return fmt.Errorf("name a pack: %w", err)
	}
	k.batch.Packs = append(k.batch.Packs, batch.PackRef{Name: batch.Name(name), Size: int64(len(data))})
	k.report.Stored += int64(len(data))
	k.group.Go(func() error { return k.bucket.putPack(ctx, batch.Name(name), data) })
	return ctx.Err()
}

// putPack writes a pack. Its name is random: whatever lies there is ours.
func (b *bucket) putPack(ctx context.Context, name batch.Name, data []byte) error {
	path := packPath(name)
	_, err := b.store.Put(ctx, path, objectstore.Bytes(data), &objectstore.PutOptions{Mode: objectstore.Create})
	if err == nil || ctx.Err() != nil {
		return err
	}
	meta, other := objectstore.Head(ctx, b.store, path)
	switch {
	case other == nil && meta.Size == int64(len(data)):
		return nil // the answer was lost
	case other == nil:
		return damaged("%q in %s has %d bytes, %d were sent", path, b.store, meta.Size, len(data))
	case errors.Is(other, objectstore.ErrNotFound):
		return err
	}
	return errors.Join(err, other)
}
