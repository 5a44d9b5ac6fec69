package replica

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
)

// verify compares the payloads of rows with the bytes of their chunks, which are
// in the draft or in the database.
func (t *Draft) verify(ctx context.Context, rows *Rows) error {
	fresh := make(map[int64]Chunk, len(rows.Chunks))
	for _, c := range rows.Chunks {
		fresh[c.Row] = c
	}
	for i := range rows.Payloads {
		if err := t.verifyPayload(ctx, &rows.Payloads[i], fresh); err != nil {
			return err
		}
	}
	return nil
}

func (t *Draft) verifyPayload(ctx context.Context, p *Payload, fresh map[int64]Chunk) error {
	sum := sha256.New()
	for _, e := range p.Entries {
		c, ok := fresh[e.Chunk]
		if !ok {
			var err error
			if c, err = t.db.chunk(ctx, e.Chunk); err != nil {
				return err
			}
		}
		if c.Size != e.Size {
			return fmt.Errorf("payload %v: chunk %v has %d bytes, its list says %d: %w", p.Digest, c.Digest, c.Size, e.Size, ErrMismatch)
		}
		if len(p.Entries) == 1 { // as most have: its name says it all
			if c.Digest != p.Digest {
				return fmt.Errorf("payload %v: its only chunk is %v: %w", p.Digest, c.Digest, ErrMismatch)
			}
			return nil
		}
		if err := t.hash(ctx, sum, c, ok); err != nil {
			return err
		}
	}
	if got := digest.Digest(sum.Sum(nil)); got != p.Digest {
		return fmt.Errorf("payload %v: its chunks make %v: %w", p.Digest, got, ErrMismatch)
	}
	return nil
}

// hash writes a chunk's verified bytes to a hash.
func (t *Draft) hash(ctx context.Context, sum hash.Hash, c Chunk, fresh bool) error {
	data, release, err := t.buffer(ctx, c.Size)
	if err != nil {
		return err
	}
	defer release()
	if fresh {
		t.mu.Lock()
		location := t.records[c.Row]
		t.mu.Unlock()
		err = t.db.readRecord(ctx, location, c.Digest, data)
	} else {
		err = t.db.ReadChunk(ctx, c.Row, data)
	}
	if err == nil {
		sum.Write(data)
	}
	return err
}

func (t *Draft) buffer(ctx context.Context, size int64) (data []byte, release func(), err error) {
	if t.commit != nil {
		return make([]byte, size), func() {}, nil
	}
	buffer, err := t.db.Buffer(ctx, size)
	if err != nil {
		return nil, nil, err
	}
	return buffer.Data, buffer.Release, nil
}

func (d *DB) readRecord(ctx context.Context, location heap.Location, name digest.Digest, data []byte) error {
	_, end, err := d.parts.Begin(ctx)
	if err != nil {
		return err
	}
	return end(d.parts.Heap.Read(location, name, data))
}

func (d *DB) chunk(ctx context.Context, row int64) (c Chunk, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		got, err := v.Chunk(row)
		c = Chunk{got.ID, got.Digest, got.Size}
		return err
	})
	return c, err
}
