package stardust

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/salvage"
)

// How much of a new file becomes durable together.
const (
	rebuildPayloads     = 1024
	rebuildBytes        = 64 << 20
	rebuildTransactions = 256
)

// writeDraft makes a new file by filling one beside its path, which gets its name
// when it is whole.
func writeDraft(ctx context.Context, path string, log *slog.Logger, fill func(context.Context, *file, *catalog.Catalog) error) error {
	partial := path + ".partial"
	if err := container.RemoveDraft(partial); err != nil {
		return partialError(partial, err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	target, err := openDraft(partial, log)
	if err != nil {
		return openError(partial, err)
	}
	err = fillDraft(ctx, target, fill)
	if err = errors.Join(err, target.close()); err == nil {
		err = renameDurably(partial, path)
	}
	if err != nil {
		err = errors.Join(asError(err), container.RemoveDraft(partial))
	}
	return err
}

func fillDraft(ctx context.Context, target *file, fill func(context.Context, *file, *catalog.Catalog) error) error {
	c, err := catalog.Open(target.dsn(), catalog.Options{Pragmas: target.pragmas(), Made: new(Options).makeSettings})
	if err != nil {
		return err
	}
	if err := target.heap.Compress(runtime.GOMAXPROCS(0), chunk.Max); err != nil {
		return errors.Join(err, c.Close())
	}
	if err := errors.Join(fill(ctx, target, c), c.Close()); err != nil {
		return err
	}
	return target.container.Finish()
}

// rebuild writes a plan to a new file.
type rebuild struct {
	*salvaging
	found *salvage.Found
	plan  *salvage.Plan
	old   *heap.Heap

	rows   map[digest.Digest]catalog.Chunk // chunks that are in the new file
	buffer []byte
}

func (b *rebuild) write(ctx context.Context, target *file, to *catalog.Catalog) error {
	b.rows = make(map[digest.Digest]catalog.Chunk)
	for rest := b.plan.Payloads; len(rest) > 0; {
		n, bytes := 0, int64(0)
		for n < len(rest) && n < rebuildPayloads && bytes < rebuildBytes {
			bytes += rest[n].Size
			n++
		}
		if err := b.payloads(ctx, target, to, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
		b.progress.Saved += bytes
		b.step()
	}
	for batch := range slices.Chunk(b.plan.Transactions, rebuildTransactions) {
		err := to.Write(ctx, func(tx *catalog.Tx) error {
			for _, t := range batch {
				if err := tx.Apply(t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(b.plan.Gaps) == 0 {
		return nil
	}
	return to.Write(ctx, func(tx *catalog.Tx) error { return tx.SetGaps(b.plan.Gaps) })
}

// payloads copies payloads, then publishes them.
func (b *rebuild) payloads(ctx context.Context, target *file, to *catalog.Catalog, list []*salvage.Payload) error {
	var fresh []catalog.Chunk
	for _, p := range list {
		for _, d := range p.Chunks {
			if _, ok := b.rows[d]; ok {
				continue
			}
			c, err := b.copy(ctx, target, d)
			if err != nil {
				return err
			}
			b.rows[d] = c
			fresh = append(fresh, c)
		}
	}
	if err := target.heap.Sync(); err != nil {
		return err
	}
	return to.Write(ctx, func(tx *catalog.Tx) error {
		for i := range fresh {
			if err := tx.PutChunk(&fresh[i]); err != nil {
				return err
			}
			b.rows[fresh[i].Digest] = fresh[i]
		}
		for _, p := range list {
			row := catalog.Payload{Digest: p.Digest, Size: p.Size}
			err := tx.PutPayload(&row, func(yield func(catalog.Entry) bool) {
				for _, d := range p.Chunks {
					c := b.rows[d]
					if !yield(catalog.Entry{Chunk: c.ID, Size: c.Size}) {
						return
					}
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// copy copies a chunk, which is verified once more.
func (b *rebuild) copy(ctx context.Context, target *file, d digest.Digest) (c catalog.Chunk, err error) {
	if err := ctx.Err(); err != nil {
		return c, err
	}
	loc := b.found.Stored[d]
	if int64(cap(b.buffer)) < loc.Size {
		b.buffer = make([]byte, loc.Size)
	}
	data := b.buffer[:loc.Size]
	if err := b.old.Read(loc, d, data); err != nil {
		return c, err
	}
	at, err := target.heap.Append(d, data)
	return catalog.Chunk{Digest: d, Offset: at.Offset, Size: at.Size, Stored: at.Stored}, err
}
