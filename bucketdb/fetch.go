package bucketdb

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// lacking returns the rows of a batch that the file does not have, where the bytes
// of the chunks are, and where the file stands when it has them.
func (p *puller) lacking(l *link) (rows *replica.Rows, places []batch.Place, to replica.Position) {
	rows = new(replica.Rows)
	for i, c := range l.Rows.Chunks {
		if c.Row > p.local.Chunk {
			rows.Chunks = append(rows.Chunks, c)
			places = append(places, l.Places[i])
		}
	}
	for i := range l.Rows.Payloads {
		if l.Rows.Payloads[i].Row > p.local.Payload {
			rows.Payloads = append(rows.Payloads, l.Rows.Payloads[i])
		}
	}
	to = l.After
	for _, r := range l.Rows.Records {
		if p.options.At != 0 && r.ID > p.options.At {
			to.Transaction = max(p.local.Transaction, lastOf(rows.Records))
			break
		}
		if r.ID > p.local.Transaction {
			rows.Records = append(rows.Records, r)
		}
	}
	return rows, places, to
}

func lastOf(records []replica.Record) int64 {
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].ID
}

// fetch brings the bytes of chunks into the draft: one GET for each pack, of the
// range that holds those that are needed.
func (p *puller) fetch(ctx context.Context, l *link, draft *replica.Draft, chunks []replica.Chunk, places []batch.Place) error {
	if len(chunks) == 0 {
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
	for from := 0; from < len(chunks); {
		to := from + 1
		for to < len(chunks) && places[to].Pack == places[from].Pack && places[to].Offset >= places[to-1].Offset+places[to-1].Stored {
			to++
		}
		f := packFetch{p.bucket, l, draft, compressor, chunks[from:to], places[from:to], received}
		group.Go(func() error { return f.run(ctx) })
		from = to
	}
	return group.Wait()
}

// packFetch is chunks on their way out of one pack, in the order in which they lie
// there.
type packFetch struct {
	bucket     *bucket
	link       *link
	draft      *replica.Draft
	compressor *batch.Compressor
	chunks     []replica.Chunk
	places     []batch.Place
	received   func(replica.Chunk, batch.Place)
}

func (f *packFetch) run(ctx context.Context) error {
	ref := f.link.Packs[f.places[0].Pack]
	path := packPath(ref.Name)
	last := f.places[len(f.places)-1]
	at, end := f.places[0].Offset, last.Offset+last.Stored
	result, err := f.bucket.store.Get(ctx, path, &objectstore.GetOptions{Range: objectstore.Bounded(at, end)})
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		return damaged("%q in %s is missing, which %q names: somebody deleted it", path, f.bucket.store, logPath(f.link.Number))
	case errors.Is(err, objectstore.ErrInvalidRange):
		return damaged("%q in %s is cut short", path, f.bucket.store)
	case err != nil:
		return err
	}
	defer result.Body.Close() //nolint:errcheck // what was read is checked
	if result.Meta.Size != ref.Size {
		return damaged("%q in %s has %d bytes, %d were written", path, f.bucket.store, result.Meta.Size, ref.Size)
	}
	var stored, plain []byte
	for i, place := range f.places {
		if _, err := io.CopyN(io.Discard, result.Body, place.Offset-at); err != nil {
			return f.readError(path, err)
		}
		stored = append(stored[:0], make([]byte, place.Stored)...)
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
