package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// batchBytes is how many bytes of rows a batch gets, about.
const batchBytes = 8 << 20

// Push writes what a file has and the database in a store lacks, as the file is
// when the call begins. The first push begins that database. The file may be open
// read-only, also while another process writes it.
//
// It returns [Diverged] when the two have diverged, which the slower of two
// that push different things at the same time also gets; ErrBehind when the
// store has what the file lacks; ErrUnknown when an answer was lost and asking
// again failed; and objectstore.ErrUnsupported when the store does not honor
// create-only writes. What was written by then stays, and the next push goes on
// there; only the packs of an unwritten batch are sent again. StatusNotFound
// says that the file has no revision At, StatusConflict that the store is
// beyond it.
//
// The report is never nil.
func Push(ctx context.Context, db *stardust.DB, store objectstore.Store, options *PushOptions) (*Report, error) {
	p := &pusher{db: rowsOfFile(db), options: options.normal(), report: new(Report)}
	return p.report, advise(p.run(ctx, store), pushRights)
}

// pusher is one Push under way.
type pusher struct {
	db      database
	bucket  *bucket
	options PushOptions
	writer  batch.Nonce
	report  *Report

	goal replica.Position // the file's, when the push began
	last *link            // the head of the log
}

func (p *pusher) run(ctx context.Context, store objectstore.Store) (err error) {
	_, _ = io.ReadFull(p.options.random, p.writer[:]) // it never fails
	if p.bucket, err = openOrCreate(ctx, store); err != nil {
		return err
	}
	p.report.Identity = p.bucket.identity.String()
	p.bucket.set(p.options.sizes, p.options.Problem)
	err = p.attempt(ctx)
	for errors.Is(err, errTaken) {
		// Somebody else's batch is there. Comparing it will show what that means.
		err = p.attempt(ctx)
	}
	if err == nil {
		err = p.bundles(ctx)
	}
	return err
}

// bundles writes what makes a long log short for those who read it, once its length
// has passed a multiple of a bundle's. A push does not fail for it.
func (p *pusher) bundles(ctx context.Context) error {
	if p.report.Batches == 0 {
		return nil
	}
	n, size := p.last.Number, p.bucket.sizes[0]
	if n/size == (n-p.report.Batches)/size {
		return nil
	}
	if err := p.bucket.bundle(ctx, n); err != nil {
		p.bucket.tell(fmt.Errorf("everything was pushed, but a bundle of batches, which only saves time, was not written: %w", err))
	}
	return ctx.Err()
}

// errTaken says that another batch has the number of the one to be written.
var errTaken = errors.New("somebody else pushed meanwhile")

// attempt writes batches until the bucket has what the file had when the push began,
// or another's batch comes in between.
func (p *pusher) attempt(ctx context.Context) error {
	r, err := p.bucket.compare(ctx, p.db)
	if err != nil {
		return err
	}
	p.last = r.head
	if r.from != 0 {
		return fmt.Errorf("%w: %s has revisions up to %d, the file up to %d", ErrBehind, p.bucket.store, r.head.After.Transaction, r.local.Transaction)
	}
	if p.goal == (replica.Position{}) {
		if err := p.aim(ctx, r); err != nil {
			return err
		}
	}
	p.report.Revision = r.end().Transaction
	for at := r.end(); !reaches(at, p.goal); {
		if at, err = p.batch(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// aim finds out what to push.
func (p *pusher) aim(ctx context.Context, r *relation) error {
	err := checkRevision("push", p.options.At, r.local.Transaction, r.end().Transaction, "the file", p.bucket.store.String())
	if err != nil {
		return err
	}
	p.goal = r.local
	if p.options.At != 0 {
		p.goal, err = goalAt(ctx, p.db, p.options.At, r.end())
	}
	p.report.TotalChunks = p.goal.Chunk - r.end().Chunk
	return err
}

// batch writes the next batch after a position and returns where it ends.
func (p *pusher) batch(ctx context.Context, from replica.Position) (replica.Position, error) {
	b := &batch.Batch{
		Identity: p.bucket.identity, Number: 1, Writer: p.writer,
		Time: p.options.Now().UTC().Truncate(time.Millisecond), Before: from,
	}
	_, _ = io.ReadFull(p.options.random, b.Nonce[:]) // it never fails
	if p.last != nil {
		b.Number, b.Previous, b.Horizon = p.last.Number+1, p.last.sum, p.last.Horizon
	}
	end, err := p.chunks(ctx, b, from)
	if err != nil {
		return from, err
	}
	// What names chunks waits until all of these are there.
	if end.Chunk == p.goal.Chunk {
		if b.Rows.Payloads, b.Rows.Records, end, err = names(ctx, p.db, end, p.goal); err != nil {
			return from, err
		}
	}
	b.After = end
	if b.Tip, err = p.tip(ctx, end); err != nil {
		return from, err
	}
	return end, p.write(ctx, b)
}

// tip returns the last rows up to a position. Removed chunks and payloads have
// a zero digest.
func (p *pusher) tip(ctx context.Context, at replica.Position) (batch.Tip, error) {
	record, chunk, payload, err := p.db.At(ctx, at)
	return batch.Tip{Record: batch.RecordSum(record), Chunk: chunk, Payload: payload}, err
}

// names returns the next payloads and transactions of a file after a position
// and up to another, and where they end.
func names(ctx context.Context, db database, at, goal replica.Position) (payloads []replica.Payload, records []replica.Record, end replica.Position, err error) {
	const most = batchBytes / 16 // entries
	if payloads, err = db.Payloads(ctx, at.Payload, goal.Payload, most); err != nil {
		return nil, nil, at, err
	}
	entries := 0
	for i := range payloads {
		entries += 1 + len(payloads[i].Entries)
		at.Payload = payloads[i].Row
	}
	if entries >= most && at.Payload < goal.Payload {
		return payloads, nil, at, nil
	}
	at.Payload = goal.Payload
	if records, err = db.Records(ctx, at.Transaction, goal.Transaction, batchBytes); err != nil {
		return nil, nil, at, err
	}
	if len(records) == 0 {
		at.Transaction = goal.Transaction
	} else {
		at.Transaction = lastOf(records)
	}
	return payloads, records, at, nil
}

// write puts a batch at the end of the log.
func (p *pusher) write(ctx context.Context, b *batch.Batch) error {
	data := b.Encode()
	if len(data) > batch.MaxSize {
		return fmt.Errorf("batch %d has %d bytes, more than a batch can have: a payload has too many chunks", b.Number, len(data))
	}
	ours, err := p.bucket.put(ctx, b.Number, data)
	if err != nil {
		return err
	}
	if !ours {
		return errTaken
	}
	p.last = &link{b, data, batch.Sum(data)}
	p.report.Batches++
	p.report.Payloads += int64(len(b.Rows.Payloads))
	p.report.Transactions += int64(len(b.Rows.Records))
	p.report.Revision = b.After.Transaction
	p.progress()
	return nil
}

func (p *pusher) progress() {
	if p.options.Progress != nil {
		p.options.Progress(p.report.Progress)
	}
}
