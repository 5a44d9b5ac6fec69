package bucketdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/replica"
)

// Copy is [Push] from one file to another without a bucket in between: it
// applies to the file to whatever from has, when the call begins, and to lacks.
// Chunks and payloads are verified on the way. from may be open read-only.
//
// It returns [Diverged] when the two have diverged, and ErrBehind when to has
// what from lacks. What was applied by then stays, and the next Copy goes on
// there.
//
// The report is never nil.
func Copy(ctx context.Context, from, to *stardust.DB, options *PullOptions) (*Report, error) {
	c := &copier{from: rowsOfFile(from), puller: puller{db: rowsOfFile(to), options: options.normal(), report: new(Report)}}
	return c.report, c.run(ctx)
}

// CloneFile is [Clone] of a file rather than a bucket's database.
func CloneFile(ctx context.Context, from *stardust.DB, path string, options *PullOptions) (*Report, error) {
	c := &copier{from: rowsOfFile(from), puller: puller{options: options.normal(), report: new(Report)}}
	return c.report, c.makeFile(path, func(partial string) error {
		if err := c.checkPartial(ctx, partial); err != nil {
			return err
		}
		return c.run(ctx)
	})
}

// copier is one Copy under way.
type copier struct {
	puller
	from database
	goal replica.Position
}

func (c *copier) run(ctx context.Context) (err error) {
	if c.goal, err = c.from.Position(ctx); err != nil {
		return err
	}
	if c.local, err = c.db.Position(ctx); err != nil {
		return err
	}
	c.report.Revision = c.local.Transaction
	if err := c.compare(ctx); err != nil {
		return err
	}
	if err := checkRevision("copy", c.options.At, c.goal.Transaction, c.local.Transaction, "the file", "the other file"); err != nil {
		return err
	}
	if err := c.noteOrigin(ctx, [16]byte{}); err != nil {
		return err
	}
	if c.options.At != 0 {
		c.goal, err = goalAt(ctx, c.from, c.options.At, c.local)
	}
	c.report.TotalChunks = c.goal.Chunk - c.local.Chunk
	for err == nil && c.local != c.goal {
		err = c.step(ctx)
	}
	return err
}

// compare returns an error unless the target's rows are the first ones of the
// source's.
func (c *copier) compare(ctx context.Context) error {
	ahead, err := isPrefix(ctx, c.db, c.from, c.local, c.goal)
	if err != nil || ahead {
		return err
	}
	behind, err := isPrefix(ctx, c.from, c.db, c.goal, c.local)
	if err != nil {
		return err
	}
	if behind {
		return fmt.Errorf("%w: it has revisions up to %d, the other file up to %d", ErrBehind, c.goal.Transaction, c.local.Transaction)
	}
	return c.parted(ctx)
}

// isPrefix reports whether the rows of one file, up to its end, are the first of
// another's.
func isPrefix(ctx context.Context, one, other database, end, otherEnd replica.Position) (bool, error) {
	if !reaches(otherEnd, end) {
		return false, nil
	}
	record, chunk, payload, err := one.At(ctx, end)
	if err != nil {
		return false, err
	}
	same, sameChunk, samePayload, err := other.At(ctx, end)
	return bytes.Equal(record, same) && chunk == sameChunk && payload == samePayload, err
}

// parted returns the error that says where the two have diverged.
func (c *copier) parted(ctx context.Context) error {
	d := &Diverged{}
	for d.What == "" {
		ours, err := c.from.Records(ctx, d.Revision, c.goal.Transaction, batchBytes)
		theirs, other := c.db.Records(ctx, d.Revision, c.local.Transaction, batchBytes)
		if err := errors.Join(err, other); err != nil {
			return err
		}
		if len(ours) == 0 || len(theirs) == 0 {
			d.What = "one of them stored content after that which the other lacks"
		}
		for i := range min(len(ours), len(theirs)) {
			if !bytes.Equal(ours[i].Bytes, theirs[i].Bytes) {
				d.What = fmt.Sprintf("one goes on with %s, the other with %s", told(ours[i]), told(theirs[i]))
				break
			}
			d.Revision = ours[i].ID
		}
	}
	return d
}

// step applies the next rows: chunks first, then what names them.
func (c *copier) step(ctx context.Context) error {
	const stepBytes = 64 << 20
	var rows replica.Rows
	to := c.local
	draft := c.db.draft()
	defer draft.Close()
	for size := int64(0); to.Chunk < c.goal.Chunk && size < stepBytes && len(rows.Chunks) < 16384; {
		chunks, err := c.from.Chunks(ctx, to.Chunk, c.goal.Chunk, chunkPage)
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			to.Chunk = c.goal.Chunk // the last ones were removed
		}
		for _, chunk := range chunks {
			if err := c.chunk(ctx, draft, chunk); err != nil {
				return err
			}
			size += chunk.Size
			to.Chunk = chunk.Row
			rows.Chunks = append(rows.Chunks, chunk)
			if size >= stepBytes {
				break
			}
		}
	}
	if to.Chunk == c.goal.Chunk {
		var err error
		if rows.Payloads, rows.Records, to, err = names(ctx, c.from, to, c.goal); err != nil {
			return err
		}
	}
	if err := draft.Apply(ctx, c.local, to, &rows); err != nil {
		return err
	}
	c.applied(to, &rows, 1)
	return nil
}

func (c *copier) chunk(ctx context.Context, to draft, chunk replica.Chunk) error {
	err := c.from.read(ctx, chunk, func(data []byte) error { return to.Add(ctx, chunk, data) })
	if err != nil {
		return err
	}
	c.report.Chunks++
	c.report.Bytes += chunk.Size
	c.report.Stored += chunk.Size
	c.progress()
	return nil
}
