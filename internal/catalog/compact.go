package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// settleTimeout bounds how long Settle waits for reads under way, while nothing can be
// written.
const settleTimeout = 500 * time.Millisecond

// vacuumPart is the part of the pages that must be free for Vacuum to write the rest
// anew.
const vacuumPart = 8

// Vacuum writes the tables anew without their free pages, when these are many, and
// reports whether it did. Nothing else is written meanwhile; reads go on. It takes
// temporary space of the tables' size, on the disk.
func (c *Catalog) Vacuum(ctx context.Context) (done bool, err error) {
	got, err := c.borrow(ctx, c.writer, false)
	if err != nil {
		return false, err
	}
	defer func() { c.writer <- got }()
	free, err := got.number(`PRAGMA freelist_count`)
	if err != nil {
		return false, err
	}
	all, err := got.number(`PRAGMA page_count`)
	if err != nil || free*vacuumPart < all {
		return false, err
	}
	before := got.sq.SetInterrupt(ctx)
	defer got.sq.SetInterrupt(before)
	// Temporary tables are in memory otherwise.
	err = errors.Join(got.exec(`PRAGMA temp_store = FILE`), translate(got.sq.Exec(`VACUUM`)))
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return err == nil, errors.Join(err, got.exec(`PRAGMA temp_store = MEMORY`))
}

// Settle brings all that was committed into the main database, so that nothing is in
// its log, and calls fn while nobody can write. It reports false, without having
// called fn, when a reader keeps the log.
func (c *Catalog) Settle(ctx context.Context, fn func() error) (done bool, err error) {
	got, err := c.borrow(ctx, c.writer, false)
	if err != nil {
		return false, err
	}
	defer func() { c.writer <- got }()
	if err := got.sq.BusyTimeout(settleTimeout); err != nil {
		return false, translate(err)
	}
	defer func() { err = errors.Join(err, translate(got.sq.BusyTimeout(busyTimeout))) }()
	_, _, err = got.sq.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	if errors.Is(err, sqlite3.BUSY) {
		return false, nil
	}
	if err != nil {
		return false, translate(err)
	}
	return true, fn()
}
