package bucketdb

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// fetch brings the bytes of chunks into the draft, pack by pack.
func (p *puller) fetch(ctx context.Context, packs []packFetch, to draft) error {
	if len(packs) == 0 {
		return nil
	}
	compressor, err := batch.NewCompressor()
	if err != nil {
		return err
	}
	defer compressor.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.options.Workers)
	var mu sync.Mutex // guards the report
	received := func(c replica.Chunk, place batch.Place) {
		mu.Lock()
		defer mu.Unlock()
		p.report.Chunks++
		p.report.Bytes += c.Size
		p.report.Stored += place.Stored
		p.progress()
	}
	for _, f := range packs {
		f.bucket, f.draft, f.compressor, f.received = p.bucket, to, compressor, received
		group.Go(func() error { return f.run(ctx) })
	}
	return group.Wait()
}

// packFetch is the chunks to read from one pack, in the order in which they lie
// there.
type packFetch struct {
	number int64 // of the batch that names the pack
	pack   batch.PackRef
	chunks []replica.Chunk
	places []batch.Place

	bucket     *bucket
	draft      draft
	compressor *batch.Compressor
	received   func(replica.Chunk, batch.Place)
}

func (f *packFetch) run(ctx context.Context) error {
	path := packPath(f.pack.Name)
	last := f.places[len(f.places)-1]
	at, end := f.places[0].Offset, last.Offset+last.Stored
	result, err := f.bucket.store.Get(ctx, path, &objectstore.GetOptions{Range: objectstore.Bounded(at, end)})
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return damaged("%q in %s is missing, which %q names: somebody deleted it", path, f.bucket.store, logPath(f.number))
	case errors.Is(err, objectstore.ErrInvalidRange):
		return damaged("%q in %s is cut short", path, f.bucket.store)
	case err != nil:
		return err
	}
	defer result.Body.Close()
	if result.Meta.Size != f.pack.Size {
		return damaged("%q in %s has %d bytes, %d were written", path, f.bucket.store, result.Meta.Size, f.pack.Size)
	}
	var stored, plain []byte
	for i, place := range f.places {
		if _, err := io.CopyN(io.Discard, result.Body, place.Offset-at); err != nil {
			return f.readError(path, err)
		}
		stored = slices.Grow(stored[:0], int(place.Stored))[:place.Stored]
		if _, err := io.ReadFull(result.Body, stored); err != nil {
			return f.readError(path, err)
		}
		at = place.Offset + place.Stored
		data, err := f.compressor.Open(plain, stored, place.Codec, f.chunks[i].Size)
		if err != nil {
			return damaged("chunk %v in %q of %s: %w", f.chunks[i].Digest, path, f.bucket.store, err)
		}
		if place.Codec != batch.Raw {
			plain = data
		}
		switch err := f.draft.Add(ctx, f.chunks[i], data); {
		case errors.Is(err, replica.ErrMismatch):
			return damaged("%q in %s: %w", path, f.bucket.store, err)
		case err != nil:
			return err
		}
		f.received(f.chunks[i], place)
	}
	return nil
}

func (f *packFetch) readError(path objectstore.Path, err error) error {
	return &objectstore.Error{Op: objectstore.OpGet, Store: f.bucket.store.String(), Path: string(path), Err: err}
}
