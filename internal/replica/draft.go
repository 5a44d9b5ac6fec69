package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/heap"
)

// Errors of Draft.Apply and Draft.Add.
var (
	// ErrMoved: the database has other rows than those that the draft follows.
	ErrMoved = errors.New("somebody else wrote to the database meanwhile")
	// ErrMismatch: a chunk's bytes are not those that its digest names.
	ErrMismatch = errors.New("bytes do not match their digest")
	// ErrForgotten: a part of the database's history was forgotten.
	ErrForgotten = errors.New("a part of the file's history was forgotten, and a bucket has the whole history of its files; " +
		"clone the bucket to a new file, or import what this file has into a new one and push that elsewhere")
)

// Draft is rows on their way into a database: first Add the bytes of their
// chunks, in parallel if you like, then Apply, then Close.
type Draft struct {
	db *DB
	// commit commits the plan, when that is not to go through the queue.
	commit func(plan func(*commit.Plan) error) error

	mu      sync.Mutex
	records map[int64]heap.Location // by the chunk's row
	applied bool
	doubt   bool
}

// NewDraft begins one. The caller closes it.
func (d *DB) NewDraft() *Draft { return &Draft{db: d, records: make(map[int64]heap.Location)} }

// NewUpstreamDraft begins one whose Apply commits by the given function, as
// [commit.Upstream] has one, and that takes no memory of the database's budget: who
// waits for the commit may have all of it.
func (d *DB) NewUpstreamDraft(apply func(plan func(*commit.Plan) error) error) *Draft {
	t := d.NewDraft()
	t.commit = apply
	return t
}

// Add compares a chunk's bytes with its digest and stores them. It may be called
// concurrently.
func (t *Draft) Add(ctx context.Context, c Chunk, data []byte) error {
	if int64(len(data)) != c.Size || sha256.Sum256(data) != c.Digest {
		return fmt.Errorf("chunk %v of %d bytes: %w", c.Digest, c.Size, ErrMismatch)
	}
	_, end, err := t.db.parts.Begin(ctx)
	if err != nil {
		return err
	}
	location, err := t.db.parts.Heap.Append(c.Digest, data)
	if err == nil {
		t.mu.Lock()
		t.records[c.Row] = location
		t.mu.Unlock()
	}
	return end(err)
}

// Apply writes the rows, the bytes of whose chunks were added, in one durable
// commit. They follow those of the position after, or ErrMoved is returned. Where
// they end is the position to, which may lie beyond the last chunk and payload when
// later ones were removed. A payload whose chunks do not make it up is ErrMismatch.
func (t *Draft) Apply(ctx context.Context, after, to Position, rows *Rows) error {
	if err := t.verify(ctx, rows); err != nil {
		return err
	}
	return t.db.queued(ctx, func(ctx context.Context, q *commit.Queue) (err error) {
		var inPlan error
		plan := func(p *commit.Plan) error {
			inPlan = t.replay(p, after, to, rows)
			return inPlan
		}
		if t.commit != nil {
			err = t.commit(plan)
		} else {
			_, err = q.Commit(ctx, commit.Write{Chunks: true, Plan: plan})
		}
		t.applied = err == nil
		// Otherwise it may have taken place, and only the next open tells.
		t.doubt = err != nil && inPlan == nil && !commit.Refused(err)
		return err
	})
}

func (t *Draft) replay(p *commit.Plan, after, to Position, rows *Rows) error {
	tx := p.Tx()
	at, err := position(&tx.View)
	if err != nil {
		return err
	}
	if at != after {
		return ErrMoved
	}
	for _, c := range rows.Chunks {
		location, ok := t.records[c.Row]
		if !ok {
			return fmt.Errorf("chunk %v was not added", c.Digest)
		}
		row := catalog.Chunk{ID: c.Row, Digest: c.Digest, Offset: location.Offset, Size: c.Size, Stored: location.Stored}
		if err := tx.ReplayChunk(&row); err != nil {
			return err
		}
	}
	for i := range rows.Payloads {
		q := &rows.Payloads[i]
		if err := tx.ReplayPayload(q.Row, q.Digest, q.Size, q.Entries); err != nil {
			return err
		}
	}
	if err := tx.SkipTo(to); err != nil {
		return err
	}
	for i := range rows.Records {
		transaction, err := catalog.DecodeRecord(rows.Records[i].Bytes)
		if err != nil {
			return err
		}
		if err := p.Replay(transaction); err != nil {
			return err
		}
	}
	return nil
}

// Close frees what was added, unless it was applied, or may have been. What is at the
// file's end goes back to the disk.
func (t *Draft) Close() {
	if t.applied || t.doubt {
		return
	}
	for _, location := range t.records {
		t.db.parts.Heap.Free(location)
	}
	t.records = nil
	_ = t.db.parts.Heap.Shrink() // the space is free in the file, then
}
