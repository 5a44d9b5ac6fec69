package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/container"
)

// compactStep bounds how many holes are made while writes wait.
const compactStep = 256

// CompactOptions are the options of [DB.Compact]. A nil pointer means the zero
// value.
type CompactOptions struct {
	// Progress, when not nil, is called now and then, one call at a time.
	Progress func(CompactProgress)
}

// CompactProgress tells how many bytes of free space were looked at.
type CompactProgress struct{ Bytes, TotalBytes int64 }

// CompactReport says what a compaction did.
type CompactReport struct {
	// SizeBefore and SizeAfter are the file's size, StoredBefore and StoredAfter
	// what it takes of the file system, in bytes.
	SizeBefore, SizeAfter     int64
	StoredBefore, StoredAfter int64
	// FreeBytes is the free space within the file. It is in holes, which take
	// nothing, but for pieces of less than a page of 4096 bytes.
	FreeBytes int64
	// Holes says that the file system can make holes. Where it cannot, only the
	// end of the file was given back.
	Holes bool
	// Tables says that the tables were written anew, without their free pages.
	Tables bool
	// Waiting says that something may be left for the next time: a reader kept the
	// log, so that the tables' free space stays.
	Waiting bool
}

// Compact gives the file's free space back to the file system, while others read
// and write: it writes tables with many free pages anew, cuts free space off the
// end of the file, and makes holes of the rest. Chunks stay where they are. What
// Forget freed in this session is given back, too, unless a reader keeps the log.
//
// Other writes wait while tables are written anew, about a second for 100 MB, and
// for moments otherwise. It can be stopped and begun again at any time.
//
// It returns StatusConflict while the database holds writes, StatusUnavailable on
// a read-only database, StatusIO when the disk fails or is full, StatusCanceled when
// ctx ends first, and StatusClosed.
func (db *DB) Compact(ctx context.Context, options *CompactOptions) (*CompactReport, error) {
	const op = "compact"
	c := compaction{db: db}
	if options != nil {
		c.options = *options
	}
	if err := db.writable(); err != nil {
		return nil, withOp(op, err)
	}
	inner, end, err := db.task(ctx)
	if err != nil {
		return nil, withOp(op, err)
	}
	if err = end(c.run(inner)); err != nil {
		return nil, withOp(op, err)
	}
	return &c.report, nil
}

// compaction is one compaction under way.
type compaction struct {
	db      *DB
	options CompactOptions
	report  CompactReport
}

func (c *compaction) run(ctx context.Context) (err error) {
	f := c.db.file
	if err := f.heap.Learn(); err != nil {
		return err
	}
	if c.report.SizeBefore, c.report.StoredBefore, err = f.container.Sizes(); err != nil {
		return err
	}
	if c.report.Tables, err = c.db.catalog.Vacuum(ctx); err != nil {
		return err
	}
	settled, err := c.db.catalog.Settle(ctx, c.settle)
	if err != nil {
		return err
	}
	c.report.Waiting = !settled
	if err := c.lowerTrailer(ctx); err != nil {
		return err
	}
	if err := c.step(ctx, f.heap.CutEnd); err != nil {
		return err
	}
	if err := c.punch(ctx); err != nil {
		return err
	}
	c.report.FreeBytes = f.heap.FreeBytes()
	c.report.SizeAfter, c.report.StoredAfter, err = f.container.Sizes()
	return err
}

// settle runs when all of the tables is in the file and nobody writes: a copy of the
// file that began before is noticed as such from here on, so that its free space
// may change.
func (c *compaction) settle() error {
	f := c.db.file
	if !c.db.payloads.Departing() {
		f.heap.Reuse()
	}
	gone, err := f.container.TrimPages()
	f.heap.Release(gone...)
	return err
}

// step runs fn between two commits.
func (c *compaction) step(ctx context.Context, fn func() error) error {
	_, err := c.db.queue.Commit(ctx, commit.Write{Plan: func(*commit.Plan) error { return fn() }})
	return err
}

// lowerTrailer moves the trailer, which nothing may be cut before, to the first
// place where it can be.
func (c *compaction) lowerTrailer(ctx context.Context) error {
	f := c.db.file
	return c.step(ctx, func() error {
		earliest, now := f.container.LowestTrailer()
		at, ok := f.heap.TakeLowest(container.TrailerSize, container.PageSize, earliest, now)
		if !ok {
			return nil
		}
		old, err := f.container.LowerTrailer(at)
		if err != nil {
			return err // what was taken may be named by a slot: it is free at the next open
		}
		f.heap.Release(old)
		return nil
	})
}

// punch makes holes of the free ranges, a few at a time.
func (c *compaction) punch(ctx context.Context) error {
	holes := c.db.file.heap.Holes()
	progress := CompactProgress{TotalBytes: total(holes)}
	c.report.Holes = true
	for len(holes) > 0 && c.report.Holes {
		n := min(compactStep, len(holes))
		err := c.step(ctx, func() error {
			for _, h := range holes[:n] {
				can, err := c.db.file.heap.Punch(h)
				if err != nil {
					return err
				}
				c.report.Holes = c.report.Holes && can
			}
			return nil
		})
		if err != nil {
			return err
		}
		progress.Bytes += total(holes[:n])
		if c.options.Progress != nil {
			c.options.Progress(progress)
		}
		holes = holes[n:]
	}
	return nil
}

func total(holes []container.Extent) (n int64) {
	for _, h := range holes {
		n += h.Size
	}
	return n
}
