package bucketdb

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

// relation says how far a file and a bucket are, which have not diverged.
type relation struct {
	local replica.Position
	head  *link // nil while the log is empty
	// from is the first batch with rows that the file lacks, or zero.
	from int64
	// previous is the batch before from, or nil when that is the first.
	previous *link
}

// end returns how far the bucket goes.
func (r *relation) end() replica.Position {
	if r.head == nil {
		return replica.Position{}
	}
	return r.head.After
}

// comparison finds out a relation.
type comparison struct {
	bucket *bucket
	db     database
	local  replica.Position
}

// compare returns how far a file and a bucket are, or the error [Diverged].
func (b *bucket) compare(ctx context.Context, db database) (*relation, error) {
	local, err := db.Position(ctx)
	if err != nil {
		return nil, err
	}
	head, err := b.head(ctx)
	if err != nil {
		return nil, err
	}
	r := &relation{local: local, head: head}
	if head == nil {
		return r, nil
	}
	if local == (replica.Position{}) && head.After != local {
		r.from = 1 // a file that is to become a clone
		return r, nil
	}
	c := comparison{b, db, local}
	agrees, err := c.agrees(ctx, head)
	if err != nil {
		return nil, err
	}
	switch {
	case agrees && reaches(local, head.After):
		return r, nil
	case !agrees || !reaches(head.After, local):
		return nil, c.parted(ctx, head.Number)
	}
	// The first batch that reaches as far as the file, or further.
	k, at, err := c.search(ctx, head.Number, func(l *link) (bool, error) { return reaches(l.After, local), nil })
	if err != nil {
		return nil, err
	}
	if r.from, r.previous, err = c.join(ctx, k, at); err != nil {
		return nil, err
	}
	if r.from == 0 {
		return nil, c.parted(ctx, head.Number)
	}
	return r, nil
}

// join returns the batch from which the log continues the file, given the first
// batch that reaches as far. It returns zero when they have diverged.
func (c *comparison) join(ctx context.Context, k int64, at *link) (from int64, previous *link, err error) {
	if at.After == c.local {
		agrees, err := c.agrees(ctx, at)
		if err != nil || !agrees {
			return 0, nil, err
		}
		return k + 1, at, nil
	}
	// The file may end between two batches, or have parts of several: a push sends
	// all chunks before what names them.
	from, _, err = c.search(ctx, k, func(l *link) (bool, error) { return !reaches(c.local, l.After), nil })
	if err != nil {
		return 0, nil, err
	}
	if from > 1 {
		if previous, err = c.bucket.mustGet(ctx, from-1); err != nil {
			return 0, nil, err
		}
		agrees, err := c.agrees(ctx, previous)
		if err != nil || !agrees {
			return 0, nil, err
		}
	}
	for l, err := range c.bucket.batches(ctx, from, k) {
		if err != nil {
			return 0, nil, err
		}
		what, err := c.difference(ctx, l)
		if err != nil || what != "" {
			return 0, nil, err
		}
	}
	return from, previous, nil
}

// reaches reports whether a position is at or beyond another in each of its
// numbers.
func reaches(p, other replica.Position) bool {
	return p.Transaction >= other.Transaction && p.Chunk >= other.Chunk && p.Payload >= other.Payload
}

// agrees reports whether the last rows of a batch are the file's, as far as the
// file goes. A zero digest stands for a row that was removed before it was
// pushed.
func (c *comparison) agrees(ctx context.Context, l *link) (bool, error) {
	record, chunk, payload, err := c.db.At(ctx, l.After)
	if err != nil {
		return false, err
	}
	return (c.local.Transaction < l.After.Transaction || batch.RecordSum(record) == l.Tip.Record) &&
		(c.local.Chunk < l.After.Chunk || chunk == l.Tip.Chunk) &&
		(c.local.Payload < l.After.Payload || payload == l.Tip.Payload), nil
}

// search returns the first batch up to last for which a condition holds; it
// must hold for all later ones, the last included.
func (c *comparison) search(ctx context.Context, last int64, holds func(*link) (bool, error)) (int64, *link, error) {
	low, high := int64(0), last
	var at *link
	for high-low > 1 || at == nil {
		middle := low + (high-low+1)/2
		if high-low == 1 {
			middle = high
		}
		l, err := c.bucket.mustGet(ctx, middle)
		if err != nil {
			return 0, nil, err
		}
		ok, err := holds(l)
		if err != nil {
			return 0, nil, err
		}
		switch {
		case ok:
			high, at = middle, l
		case middle == high:
			return 0, nil, damaged("batch %d of %s does not follow those before it", middle, c.bucket.store)
		default:
			low = middle
		}
	}
	return high, at, nil
}

// parted returns the error that says where a file and a log up to a number have
// diverged.
func (c *comparison) parted(ctx context.Context, last int64) error {
	// The first batch that the file does not have.
	_, at, err := c.search(ctx, last, func(l *link) (bool, error) {
		agrees, err := c.agrees(ctx, l)
		return !agrees || !reaches(c.local, l.After), err
	})
	if err != nil {
		return err
	}
	d := &Diverged{Revision: at.Before.Transaction}
	if d.What, err = c.difference(ctx, at); err != nil {
		return err
	}
	if d.What == "" {
		d.What = fmt.Sprintf("the file goes on to revision %d, with %d stored chunks and %d payloads, the bucket to %d, with %d and %d, and neither has everything that the other has",
			c.local.Transaction, c.local.Chunk, c.local.Payload, at.After.Transaction, at.After.Chunk, at.After.Payload)
	}
	return d
}

// difference describes the first row of a batch that differs in the file, or
// returns "".
func (c *comparison) difference(ctx context.Context, l *link) (string, error) {
	last := min(c.local.Transaction, l.After.Transaction)
	records, err := c.db.Records(ctx, l.Before.Transaction, last, batch.MaxSize)
	if err != nil {
		return "", err
	}
	for i, r := range l.Rows.Records {
		switch {
		case i >= len(records):
			if r.ID <= last {
				return fmt.Sprintf("the bucket has %s, the file has none of that number", told(r)), nil
			}
		case !bytes.Equal(records[i].Bytes, r.Bytes):
			return fmt.Sprintf("the file goes on with %s, the bucket with %s", told(records[i]), told(r)), nil
		}
	}
	if len(records) > len(l.Rows.Records) {
		return fmt.Sprintf("the file has %s, which the bucket lacks", told(records[len(l.Rows.Records)])), nil
	}
	if what, err := c.payloads(ctx, l); what != "" || err != nil {
		return what, err
	}
	return c.chunks(ctx, l)
}

func (c *comparison) payloads(ctx context.Context, l *link) (string, error) {
	theirs := make(map[int64]digest.Digest, len(l.Rows.Payloads))
	last := min(c.local.Payload, l.After.Payload)
	for i := range l.Rows.Payloads {
		if p := &l.Rows.Payloads[i]; p.Row <= last {
			theirs[p.Row] = p.Digest
		}
	}
	ours := make(map[int64]digest.Digest, len(theirs))
	for after := l.Before.Payload; ; {
		payloads, err := c.db.Payloads(ctx, after, last, 4096)
		if err != nil || len(payloads) == 0 {
			return unlike("payload", ours, theirs), err
		}
		for i := range payloads {
			after = payloads[i].Row
			ours[after] = payloads[i].Digest
		}
	}
}

func (c *comparison) chunks(ctx context.Context, l *link) (string, error) {
	theirs := make(map[int64]digest.Digest, len(l.Rows.Chunks))
	last := min(c.local.Chunk, l.After.Chunk)
	for _, r := range l.Rows.Chunks {
		if r.Row <= last {
			theirs[r.Row] = r.Digest
		}
	}
	ours := make(map[int64]digest.Digest, len(theirs))
	for after := l.Before.Chunk; ; {
		chunks, err := c.db.Chunks(ctx, after, last, 4096)
		if err != nil || len(chunks) == 0 {
			return unlike("chunk", ours, theirs), err
		}
		for _, r := range chunks {
			after = r.Row
			ours[after] = r.Digest
		}
	}
}

// unlike describes the first row in which the two differ, or returns "".
func unlike(what string, ours, theirs map[int64]digest.Digest) string {
	first := int64(0)
	for _, rows := range []map[int64]digest.Digest{ours, theirs} {
		for row := range rows {
			if ours[row] != theirs[row] && (first == 0 || row < first) {
				first = row
			}
		}
	}
	if first == 0 {
		return ""
	}
	return fmt.Sprintf("the file has %s as its %s number %d, the bucket %s", orNone(ours[first]), what, first, orNone(theirs[first]))
}

func orNone(d digest.Digest) string {
	if d == (digest.Digest{}) {
		return "none"
	}
	return d.String()
}

// told names a transaction: its number, its time, and the first name in it.
func told(r replica.Record) string {
	t, err := catalog.DecodeRecord(r.Bytes)
	if err != nil {
		return fmt.Sprintf("revision %d", r.ID)
	}
	text := fmt.Sprintf("revision %d of %s", r.ID, t.Time.Format(time.RFC3339))
	for i := range t.Facts {
		if f := &t.Facts[i]; f.Attribute == catalog.AttributeName && f.Value.Kind == catalog.Text {
			return fmt.Sprintf("%s (%q)", text, f.Value.Bytes)
		}
	}
	return text
}
