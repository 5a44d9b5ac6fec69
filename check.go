package stardust

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/payload"
)

// CheckOptions are the options of [DB.Check]. A nil pointer means the zero value.
type CheckOptions struct {
	// Progress, when not nil, is called now and then, one call at a time.
	Progress func(CheckProgress)
	// Problem, if not nil, is called for every problem found, one call at a time.
	Problem func(error)
}

// CheckProgress tells how far a check of the chunks has come.
type CheckProgress struct {
	Chunks, TotalChunks int64
	Bytes, TotalBytes   int64
}

// CheckReport is what a check saw and found.
type CheckReport struct {
	CheckProgress
	Payloads     int64
	Nodes        int64
	Versions     int64
	Transactions int64
	// Problems are the first 1000 things that are wrong; Damaged counts all.
	Problems []error
	Damaged  int64
	// DamagedPayloads are the payloads that have a damaged chunk. Uploading one
	// again heals it.
	DamagedPayloads []DamagedPayload
}

// DamagedPayload is a payload that cannot be read whole.
type DamagedPayload struct {
	Digest Digest
	Size   int64 // in bytes
}

// Check verifies the whole file: the tables, by themselves and against each
// other, the tree, the history, and every chunk against its digest. It reads
// while others write, and checks what was there when it began. A second check
// waits for the first. It takes 4 MiB for each processor from the memory
// budget.
//
// Damage is in the report, not the error, which says what kept the check from
// going on: StatusCanceled when ctx ends, StatusIO, StatusOutOfMemory,
// StatusClosed. The report is valid then too.
func (db *DB) Check(ctx context.Context, options *CheckOptions) (*CheckReport, error) {
	const op = "check"
	inner, end, err := db.task(ctx)
	if err != nil {
		return new(CheckReport), withOp(op, err)
	}
	c := checking{db: db}
	if options != nil {
		c.options = *options
	}
	err = end(c.run(inner))
	return &c.report, withOp(op, err)
}

// run checks everything. Damage is no error.
func (c *checking) run(ctx context.Context) error {
	// A check reads within a read. One at a time leaves connections for that.
	select {
	case c.db.checking <- struct{}{}:
		defer func() { <-c.db.checking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := c.db.catalog.Read(ctx, catalog.Live, func(v *catalog.View) error {
		counts, err := v.Check(ctx, c.problem)
		c.report.Payloads, c.report.Nodes = counts.Payloads, counts.Nodes
		c.report.Versions, c.report.Transactions = counts.Versions, counts.Transactions
		if err != nil {
			return err
		}
		return c.chunks(ctx, v)
	})
	if payload.IsDamage(err) {
		c.problem(err)
		return nil
	}
	return err
}

// checking is one check under way.
type checking struct {
	db      *DB
	options CheckOptions

	mu     sync.Mutex
	report CheckReport
	bad    map[int64]bool // damaged chunks, by row
}

func (c *checking) problem(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Damaged++
	if len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, asError(err))
	}
	if c.options.Problem != nil {
		c.options.Problem(asError(err))
	}
}

// chunks reads every chunk and checks it against its digest.
func (c *checking) chunks(ctx context.Context, v *catalog.View) error {
	totals, err := v.ChunkTotals()
	if err != nil {
		return err
	}
	c.report.TotalChunks, c.report.TotalBytes = totals.Chunks, totals.Bytes
	work := make(chan catalog.Chunk)
	group, inner := errgroup.WithContext(ctx) // which ends with the group
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error { return c.verify(inner, work) })
	}
	group.Go(func() error {
		defer close(work)
		return v.Chunks(0, func(row *catalog.Chunk) bool {
			select {
			case work <- *row:
				return true
			case <-inner.Done():
				return false
			}
		})
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || len(c.bad) == 0 {
		return err
	}
	return c.payloads(ctx, v)
}

// payloads finds out which payloads have damaged chunks.
func (c *checking) payloads(ctx context.Context, v *catalog.View) error {
	var list []catalog.Payload
	if err := v.Payloads(0, func(p *catalog.Payload) bool {
		list = append(list, *p)
		return ctx.Err() == nil
	}); err != nil {
		return err
	}
	for i := range list {
		p := &list[i]
		for at := int64(0); at < p.Size; {
			segment, err := v.Segment(p, at)
			if payload.IsDamage(err) {
				break // it has been reported
			}
			if err != nil {
				return err
			}
			if slices.ContainsFunc(segment.Entries, func(e catalog.Entry) bool { return c.bad[e.Chunk] }) {
				c.report.DamagedPayloads = append(c.report.DamagedPayloads, DamagedPayload{p.Digest, p.Size})
				break
			}
			at = segment.End()
		}
	}
	return ctx.Err()
}

// damagedChunk reports a chunk.
func (c *checking) damagedChunk(row int64, err error) {
	c.problem(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad == nil {
		c.bad = make(map[int64]bool)
	}
	c.bad[row] = true
}

func (c *checking) verify(ctx context.Context, work <-chan catalog.Chunk) error {
	buffer, err := c.db.payloads.Buffer(ctx, chunk.Max, "the check's reading buffer")
	if err != nil {
		return err
	}
	defer buffer.Release()
	for row := range work {
		err := payload.CheckSize(&row)
		if err == nil {
			var gone bool
			if gone, err = c.db.payloads.ReadStored(ctx, &row, buffer.Data[:row.Size]); gone {
				err = nil // forgotten since the check began
			}
		}
		if payload.IsDamage(err) {
			c.damagedChunk(row.ID, err)
		} else if err != nil {
			return err
		}
		c.step(row.Size)
	}
	return nil
}

func (c *checking) step(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Chunks++
	c.report.Bytes += size
	if c.options.Progress != nil {
		c.options.Progress(c.report.CheckProgress)
	}
}
