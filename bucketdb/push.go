package bucketdb

import (
	"context"
	"crypto/rand"
	"fmt"
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
// It returns [Diverged] when the two have parted, ErrBehind when the store has what
// the file lacks, which also is what the slower one of two is told who push at the
// same time, ErrUnknown when an answer was lost and could not be asked for again,
// and objectstore.ErrUnsupported when the store does not honour writes that create.
// What was written by then stays, and the next push goes on there; only
// the packs of a batch that was not written are sent again. StatusNotFound says that
// the file has no revision At, StatusConflict that the store is beyond it.
//
// The report is never nil.
func Push(ctx context.Context, db *stardust.DB, store objectstore.Store, options *PushOptions) (*Report, error) {
	p := &pusher{db: db.Replica(), options: options.normal(), report: new(Report)}
	_, _ = rand.Read(p.writer[:]) // it never fails
	return p.report, p.run(ctx, store)
}

// pusher is one Push under way.
type pusher struct {
	db      *replica.DB
	bucket  *bucket
	options PushOptions
	writer  batch.Nonce
	report  *Report

	goal replica.Position // the file's, when the push began
	last *link            // the head of the log
}

func (p *pusher) run(ctx context.Context, store objectstore.Store) (err error) {
	if p.bucket, err = openOrCreate(ctx, store); err != nil {
		return err
	}
	p.report.Identity = p.bucket.identity.String()
	r, err := p.bucket.compare(ctx, p.db)
	if err != nil {
		return err
	}
	p.goal, p.last = r.local, r.head
	if r.from != 0 {
		return fmt.Errorf("%w: %s has revisions up to %d, the file up to %d", ErrBehind, store, r.head.After.Transaction, r.local.Transaction)
	}
	if err := checkRevision("push", p.options.At, p.goal.Transaction, r.end().Transaction, "the file", store.String()); err != nil {
		return err
	}
	if p.options.At != 0 {
		if p.goal, err = goalAt(ctx, p.db, p.options.At, r.end()); err != nil {
			return err
		}
	}
	p.report.Revision = r.end().Transaction
	p.report.TotalChunks = p.goal.Chunk - r.end().Chunk
	for at := r.end(); at != p.goal; {
		if at, err = p.batch(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// batch writes the next batch behind a position and returns where it ends.
func (p *pusher) batch(ctx context.Context, from replica.Position) (replica.Position, error) {
	b := &batch.Batch{
		Identity: p.bucket.identity, Number: 1, Writer: p.writer,
		Time: p.options.Now().UTC().Truncate(time.Millisecond), Before: from,
	}
	_, _ = rand.Read(b.Nonce[:]) // it never fails
	if p.last != nil {
		b.Number, b.Previous = p.last.Number+1, p.last.sum
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

// tip returns the last rows of a position. Chunks and payloads that were removed
// stand for none.
func (p *pusher) tip(ctx context.Context, at replica.Position) (batch.Tip, error) {
	record, chunk, payload, err := p.db.At(ctx, at)
	return batch.Tip{Record: batch.RecordSum(record), Chunk: chunk, Payload: payload}, err
}

// names returns the next payloads and transactions of a file behind a position and
// up to another, and where they end.
func names(ctx context.Context, db *replica.DB, at, goal replica.Position) (payloads []replica.Payload, records []replica.Record, end replica.Position, err error) {
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
		return fmt.Errorf("%w: somebody else pushed to %s meanwhile", ErrBehind, p.bucket.store)
	}
	p.last = &link{b, batch.Sum(data)}
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
