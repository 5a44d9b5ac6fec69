package stardust

import (
	"context"
	"slices"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/retain"
)

// ForgetOptions say which revisions [DB.Forget] keeps: those that any of them
// wants, those that a tag names, and the latest. A number keeps that many, and all
// when it is negative.
type ForgetOptions struct {
	KeepLast int // the newest revisions
	// Of each of the newest hours, days, weeks (from Monday on), months and years
	// that have a revision, the newest one.
	KeepHourly, KeepDaily, KeepWeekly, KeepMonthly, KeepYearly int
	// KeepWithin keeps the revisions that are at most so much older than the
	// latest.
	KeepWithin time.Duration
	// Zone says when a day begins; nil means UTC.
	Zone *time.Location
	// DryRun only finds out what would go. It works on a read-only database, too.
	DryRun bool
}

func (o *ForgetOptions) policy() retain.Policy {
	return retain.Policy{
		Last: o.KeepLast, Hourly: o.KeepHourly, Daily: o.KeepDaily, Weekly: o.KeepWeekly,
		Monthly: o.KeepMonthly, Yearly: o.KeepYearly, Within: o.KeepWithin, Zone: o.Zone,
	}
}

// ForgetReport says what a forget did, or would do.
type ForgetReport struct {
	// Revisions are all that could be read before, the oldest first.
	Revisions []RetainedRevision
	// Kept and Forgotten are how many of them stay and go.
	Kept, Forgotten int64

	Versions     int64 // of files and directories, that go
	Payloads     int64 // that go
	PayloadBytes int64
	// Chunks and ChunkBytes are what becomes free space; LeftChunks and LeftBytes
	// are what stays stored.
	Chunks, ChunkBytes    int64
	LeftChunks, LeftBytes int64
}

// RetainedRevision is a revision, and why it stays.
type RetainedRevision struct {
	ID   int64
	Time time.Time
	// Reasons are the rules that keep it: last, hourly, daily, weekly, monthly,
	// yearly, within, latest, or tag and a name. There are none when it goes.
	Reasons []string
}

// Forget ends the revisions that the options do not keep, for good: the versions
// of files and directories that no kept revision shows, and the payloads that only
// such versions named, with the chunks that nothing else has. Payloads that no
// file ever named stay. The latest state and its revisions do not change, and
// every kept revision shows what it showed.
//
// A forgotten revision answers reads with StatusNotFound and CodeForgotten.
// [DB.Transactions] yields what is left of the log: the kept transactions, and
// of others what led to versions that are still there. It is one commit. Readers
// that have a payload open go on. The space is used again when the database is
// opened next, or after Compact; a database that has forgotten can no longer
// be pushed to a bucket or pulled from one.
//
// It takes memory for each version and chunk that goes, and other writes wait
// meanwhile.
//
// It returns StatusInvalidArgument when the options keep nothing,
// StatusEvaluationFailed when rows that say what is in use are damaged; nothing is
// changed then; StatusConflict while the database holds writes,
// StatusUnavailable on a read-only database, StatusCanceled and StatusClosed.
func (db *DB) Forget(ctx context.Context, options *ForgetOptions) (*ForgetReport, error) {
	const op = "forget"
	var o ForgetOptions
	if options != nil {
		o = *options
	}
	if p := o.policy(); p.Empty() || o.KeepWithin < 0 {
		return nil, withOp(op, invalid("the options keep nothing; KeepLast of 1 keeps the latest revision alone"))
	}
	inner, end, err := db.task(ctx)
	if err != nil {
		return nil, withOp(op, err)
	}
	f := forgetting{db: db, options: o}
	if o.DryRun {
		err = db.catalog.Read(inner, catalog.Live, f.look)
	} else {
		err = f.run(inner)
	}
	if err = end(err); err != nil {
		return nil, withOp(op, err)
	}
	return &f.report, nil
}

// forgetting is one forget under way.
type forgetting struct {
	db      *DB
	options ForgetOptions
	report  ForgetReport
	found   *catalog.Forgetting
}

func (f *forgetting) run(ctx context.Context) error {
	if err := f.db.writable(); err != nil {
		return err
	}
	// What is free is known before, so that nothing that goes now is used again
	// before the next open: copies of the file and other processes may look at it.
	if err := f.db.file.heap.Learn(); err != nil {
		return err
	}
	_, err := f.db.queue.Commit(ctx, commit.Write{Plan: func(p *commit.Plan) error {
		tx := p.Tx()
		if err := f.look(&tx.View); err != nil {
			return err
		}
		if err := f.db.payloads.Depart(&tx.View, f.found.Payloads); err != nil {
			return err
		}
		return tx.Forget(f.found)
	}})
	if err != nil {
		return err
	}
	gone := make([]heap.Location, len(f.found.Chunks))
	for i := range f.found.Chunks {
		gone[i] = payload.Place(&f.found.Chunks[i])
	}
	f.db.file.heap.Retire(gone)
	return nil
}

// look finds out what goes, and says so.
func (f *forgetting) look(v *catalog.View) error {
	f.report = ForgetReport{}
	keep, err := f.choose(v)
	if err != nil {
		return err
	}
	if f.found, err = v.Forgetting(keep); err != nil {
		return err
	}
	r := &f.report
	r.Versions, r.Payloads, r.PayloadBytes = f.found.Versions, int64(len(f.found.Payloads)), f.found.PayloadBytes
	r.Chunks, r.ChunkBytes = int64(len(f.found.Chunks)), f.found.ChunkBytes
	totals, err := v.ChunkTotals()
	if err != nil {
		return err
	}
	r.LeftChunks, r.LeftBytes = totals.Chunks-r.Chunks, totals.Stored-r.ChunkBytes
	return nil
}

// choose returns the revisions to keep, ascending.
func (f *forgetting) choose(v *catalog.View) (keep []int64, err error) {
	all, err := v.Revisions() // the last one first
	if err != nil || len(all) == 0 {
		return nil, err
	}
	times := make([]time.Time, len(all))
	for i := range all {
		times[i] = all[i].Time
	}
	policy := f.options.policy()
	reasons := policy.Reasons(times)
	if reasons[0] == nil {
		reasons[0] = []string{"latest"}
	}
	err = eachTag(v, func(t Tag) bool {
		i := slices.IndexFunc(all, func(r catalog.Revision) bool { return r.ID <= t.Revision })
		if i >= 0 {
			reasons[i] = append(reasons[i], "tag "+t.Name)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for i, r := range slices.Backward(all) {
		f.report.Revisions = append(f.report.Revisions, RetainedRevision{r.ID, r.Time, reasons[i]})
		if reasons[i] != nil {
			keep = append(keep, r.ID)
		}
	}
	f.report.Kept = int64(len(keep))
	f.report.Forgotten = int64(len(all) - len(keep))
	return keep, nil
}
