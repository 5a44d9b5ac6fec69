package bucketdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// Pull applies to a file what the database in a store has and the file lacks,
// several batches in one durable commit. Every chunk and every payload is
// compared with its digest before anything names it. Meanwhile nothing else may
// write to the file.
//
// It returns [Diverged] when the two have diverged; ErrDamaged, naming the
// object, when one is missing or not what was written; ErrNoDatabase;
// ErrOtherDatabase; and StatusNotFound when the database has no revision At.
// What was applied by then stays, and the next Pull goes on there.
//
// The report is never nil.
func Pull(ctx context.Context, db *stardust.DB, store objectstore.Store, options *PullOptions) (*Report, error) {
	p := &puller{db: rowsOfFile(db), options: options.normal(), report: new(Report)}
	return p.report, advise(p.run(ctx, store), pullRights)
}

// Origin returns the URL from which a file came; see PullOptions.URL. It is
// empty if none is noted.
func Origin(ctx context.Context, db *stardust.DB) (string, error) {
	o, _, err := db.Replica().Origin(ctx)
	return o.URL, err
}

// puller is one Pull under way.
type puller struct {
	db      database
	bucket  *bucket
	options PullOptions
	report  *Report
	cloning bool // the file is new, and must be known again after an interruption

	local replica.Position
	next  replica.Position // where the file will be once the group is applied
	group group
	last  *link // the last batch of the group, or that the file has, or nil
}

func (p *puller) run(ctx context.Context, store objectstore.Store) (err error) {
	if p.bucket, err = open(ctx, store); err != nil {
		return err
	}
	p.bucket.set(p.options.sizes, p.options.Problem)
	p.report.Identity = p.bucket.identity.String()
	if err := checkOrigin(ctx, p.db, p.bucket); err != nil {
		return err
	}
	r, err := p.bucket.compare(ctx, p.db)
	if err != nil {
		return err
	}
	if err := checkRevision("pull", p.options.At, r.end().Transaction, r.local.Transaction, store.String(), "the file"); err != nil {
		return err
	}
	if err := p.noteOrigin(ctx, [16]byte(p.bucket.identity)); err != nil {
		return err
	}
	p.local, p.last = r.local, r.previous
	p.report.Revision = p.local.Transaction
	if r.from == 0 {
		return nil
	}
	p.report.TotalChunks = r.end().Chunk - p.local.Chunk
	p.next = p.local
	for l, err := range p.bucket.batches(ctx, r.from, r.head.Number) {
		if err != nil {
			return err
		}
		if err := p.follows(l); err != nil {
			return err
		}
		p.gather(l)
		if p.done() {
			break
		}
		if p.group.full() {
			if err := p.apply(ctx); err != nil {
				return err
			}
		}
	}
	return p.apply(ctx)
}

// checkOrigin refuses a bucket when the file is a replica of another. Both
// might have the same content, which comparing would show, but a wrong URL is
// more likely. Pushing to several buckets is normal.
func checkOrigin(ctx context.Context, db database, b *bucket) error {
	o, found, err := db.Origin(ctx)
	if err == nil && found && o.Identity != [16]byte{} && o.Identity != [16]byte(b.identity) {
		err = fmt.Errorf("%w: of %s, which came from %s, and %s holds %s", ErrOtherDatabase, batch.Identity(o.Identity), o.URL, b.store, b.identity)
	}
	return err
}

// done reports whether the last batch had the revision to stop at. What follows
// would only add chunks that nothing names.
func (p *puller) done() bool {
	at := p.options.At
	return at != 0 && (p.next.Transaction >= at || p.last != nil && p.last.After.Transaction >= at)
}

func (p *puller) noteOrigin(ctx context.Context, identity [16]byte) error {
	o, found, err := p.db.Origin(ctx)
	if err != nil || found && (p.options.URL == "" || o.URL == p.options.URL && o.Identity == identity) ||
		!found && p.options.URL == "" && identity == [16]byte{} && !p.cloning {
		return err
	}
	return p.db.SetOrigin(ctx, replica.Origin{URL: p.options.URL, Identity: identity})
}

// apply brings the chunks of the batches that were gathered, and applies them in one
// commit.
func (p *puller) apply(ctx context.Context) error {
	g := p.group
	p.group = group{}
	if g.rows.Empty() && p.next == p.local {
		return nil // such as a batch that moves the horizon
	}
	draft := p.db.draft()
	defer draft.Close()
	if err := p.fetch(ctx, g.packs, draft); err != nil {
		return err
	}
	if err := draft.Apply(ctx, p.local, p.next, &g.rows); err != nil {
		if errors.Is(err, replica.ErrMismatch) || errors.Is(err, stardust.StatusEvaluationFailed) {
			return damaged("batches up to %d of %s: %w", p.last.Number, p.bucket.store, err)
		}
		return err
	}
	p.applied(p.next, &g.rows, g.batches)
	return nil
}

// applied takes note of rows that were applied up to a position.
func (p *puller) applied(to replica.Position, rows *replica.Rows, batches int64) {
	p.local = to
	p.report.Batches += batches
	p.report.Payloads += int64(len(rows.Payloads))
	p.report.Transactions += int64(len(rows.Records))
	p.report.Revision = to.Transaction
	p.progress()
}

// follows refuses a batch that does not follow the last one.
func (p *puller) follows(l *link) error {
	var sum digest.Digest
	var end replica.Position
	var horizon int64
	if p.last != nil {
		sum, end, horizon = p.last.sum, p.last.After, p.last.Horizon
	}
	if l.Previous != sum || l.Before != end {
		return damaged("%q in %s does not follow the batch before it: one of the two was replaced", logPath(l.Number), p.bucket.store)
	}
	if l.Horizon < horizon {
		return damaged("%q in %s takes the horizon back", logPath(l.Number), p.bucket.store)
	}
	for _, pack := range l.Packs {
		if timeOf(pack.Name) <= horizon {
			return damaged("%q in %s names %q, which lies behind the horizon and may be deleted", logPath(l.Number), p.bucket.store, packPath(pack.Name))
		}
	}
	return nil
}

func (p *puller) progress() {
	if p.options.Progress != nil {
		p.options.Progress(p.report.Progress)
	}
}
