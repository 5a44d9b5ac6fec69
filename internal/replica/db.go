package replica

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/payload"
)

// Parts are what a DB works on. The database owns them.
type Parts struct {
	Catalog  *catalog.Catalog
	Heap     *heap.Heap
	Payloads *payload.Store
	Queue    *commit.Queue // nil when read-only
	// Begin marks a call as under way, and returns a context that also ends with
	// the database, and what gives the call's error the form of the database's.
	Begin func(ctx context.Context) (inner context.Context, end func(error) error, err error)
	// ReadOnly is the error of a write when Queue is nil.
	ReadOnly error
}

// DB is an open database, seen as its rows. All methods may be called
// concurrently. It ends with the database.
type DB struct {
	parts Parts
	tx    *catalog.Tx // of a view from within a transaction, or nil
}

// New returns the rows of a database.
func New(parts Parts) *DB { return &DB{parts: parts} }

// Within returns the rows as a transaction sees them that is under way, to read them.
// It is valid within the transaction.
func (d *DB) Within(tx *catalog.Tx) *DB { return &DB{d.parts, tx} }

// Attach makes commits go to an upstream; see [commit.Queue.Attach].
func (d *DB) Attach(ctx context.Context, u commit.Upstream) error {
	return d.queued(ctx, func(ctx context.Context, q *commit.Queue) error { return q.Attach(ctx, u) })
}

// Follow brings what the upstream has; see [commit.Queue.Follow].
func (d *DB) Follow(ctx context.Context) error {
	return d.queued(ctx, func(ctx context.Context, q *commit.Queue) error { return q.Follow(ctx) })
}

func (d *DB) queued(ctx context.Context, do func(context.Context, *commit.Queue) error) error {
	ctx, end, err := d.parts.Begin(ctx)
	if err != nil {
		return err
	}
	if d.parts.Queue == nil {
		return end(d.parts.ReadOnly)
	}
	return end(do(ctx, d.parts.Queue))
}

// Position returns how far the database reaches. It fails with ErrForgotten
// when a part of its history was forgotten: its rows then differ from those of
// replicas that have all of it, and rows that were not copied there before no
// longer can be.
func (d *DB) Position(ctx context.Context) (p Position, err error) {
	err = d.read(ctx, func(v *catalog.View) (err error) {
		p, err = position(v)
		return err
	})
	return p, err
}

func position(v *catalog.View) (Position, error) {
	forgotten, err := v.HasForgotten()
	if err == nil && forgotten {
		err = ErrForgotten
	}
	if err != nil {
		return Position{}, err
	}
	return v.Position()
}

// Origin returns the database of which this is a replica, and whether it is
// one.
func (d *DB) Origin(ctx context.Context) (o Origin, found bool, err error) {
	err = d.read(ctx, func(v *catalog.View) (err error) {
		o, found, err = v.Origin()
		return err
	})
	return o, found, err
}

// SetOrigin notes of which database this is a replica.
func (d *DB) SetOrigin(ctx context.Context, o Origin) error {
	return d.write(ctx, func(p *commit.Plan) error { return p.Tx().SetOrigin(o) })
}

// At returns the rows of exactly a position's ids, nil or the zero value for those
// that are not there.
func (d *DB) At(ctx context.Context, at Position) (record []byte, chunk, payload digest.Digest, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		err := v.Records(at.Transaction, func(id int64, b []byte) bool {
			if id == at.Transaction {
				record = append([]byte(nil), b...)
			}
			return false
		})
		if err != nil {
			return err
		}
		c, _, err := v.FindChunk(at.Chunk)
		if err != nil {
			return err
		}
		p, _, err := v.FindPayload(at.Payload)
		if c.ID == at.Chunk {
			chunk = c.Digest
		}
		if p.ID == at.Payload {
			payload = p.Digest
		}
		return err
	})
	return record, chunk, payload, err
}

// Chunks returns up to limit chunks after one row and up to another, ascending.
func (d *DB) Chunks(ctx context.Context, after, last int64, limit int) (chunks []Chunk, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		return v.Chunks(after, func(c *catalog.Chunk) bool {
			if c.ID > last || len(chunks) == limit {
				return false
			}
			chunks = append(chunks, Chunk{c.ID, c.Digest, c.Size})
			return true
		})
	})
	return chunks, err
}

// Payloads returns payloads after one row and up to another, ascending, until they
// have limit entries together.
func (d *DB) Payloads(ctx context.Context, after, last int64, limit int) (payloads []Payload, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		entries := 0
		err := v.Payloads(after, func(p *catalog.Payload) bool {
			if p.ID > last || entries >= limit {
				return false
			}
			entries += 1 + int(p.Chunks)
			payloads = append(payloads, Payload{Row: p.ID, Digest: p.Digest, Size: p.Size})
			return true
		})
		for i := range payloads {
			if err == nil {
				err = fillEntries(v, &payloads[i])
			}
		}
		return err
	})
	return payloads, err
}

func fillEntries(v *catalog.View, p *Payload) error {
	row, _, err := v.FindPayload(p.Row)
	for at := int64(0); err == nil && at < p.Size; {
		var segment *catalog.Segment
		if segment, err = v.Segment(&row, at); err == nil {
			p.Entries = append(p.Entries, segment.Entries...)
			at = segment.End()
		}
	}
	return err
}

// Records returns encoded transactions after one id and up to another, ascending,
// until they have limit bytes together.
func (d *DB) Records(ctx context.Context, after, last int64, limit int) (records []Record, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		size := 0
		return v.Records(after+1, func(id int64, b []byte) bool {
			if id > last || size >= limit {
				return false
			}
			size += len(b)
			records = append(records, Record{id, append([]byte(nil), b...)})
			return true
		})
	})
	return records, err
}

// ReadChunk fills data, of the chunk's size, with the chunk's verified bytes.
func (d *DB) ReadChunk(ctx context.Context, row int64, data []byte) error {
	if d.tx != nil {
		c, err := d.tx.Chunk(row)
		if err != nil {
			return err
		}
		return d.parts.Heap.Read(payload.Place(&c), c.Digest, data)
	}
	ctx, end, err := d.parts.Begin(ctx)
	if err != nil {
		return err
	}
	return end(d.parts.Payloads.ReadChunk(ctx, row, data))
}

// Buffer returns memory of a chunk's size from the database's budget. The caller
// releases it.
func (d *DB) Buffer(ctx context.Context, size int64) (*payload.Buffer, error) {
	ctx, end, err := d.parts.Begin(ctx)
	if err != nil {
		return nil, err
	}
	b, err := d.parts.Payloads.Buffer(ctx, size, "the buffer of a chunk on its way")
	return b, end(err)
}

// CheckTables verifies every row and what the rows say of each other, and calls
// problem for what is wrong.
func (d *DB) CheckTables(ctx context.Context, problem func(error)) error {
	return d.read(ctx, func(v *catalog.View) error {
		_, err := v.Check(ctx, problem)
		return err
	})
}

func (d *DB) read(ctx context.Context, fn func(*catalog.View) error) error {
	if d.tx != nil {
		return fn(&d.tx.View)
	}
	ctx, end, err := d.parts.Begin(ctx)
	if err != nil {
		return err
	}
	return end(d.parts.Catalog.Read(ctx, catalog.Live, fn))
}

func (d *DB) write(ctx context.Context, plan func(*commit.Plan) error) error {
	return d.queued(ctx, func(ctx context.Context, q *commit.Queue) error {
		_, err := q.Commit(ctx, commit.Write{Plan: plan})
		return err
	})
}
