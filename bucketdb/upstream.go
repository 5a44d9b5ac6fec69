package bucketdb

import (
	"context"
	"errors"
	"io"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// Append implements commit.Upstream: it is a push of what the transaction has added,
// read from within it.
func (l *live) Append(tx *catalog.Tx, before catalog.Position) error {
	// Every caller of the group waits, each with a context of its own.
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Timeout)
	defer cancel()
	if end := l.end(); before != end {
		return &stardust.Error{Status: stardust.StatusConflict, Op: "commit", Message: "something was written past the bucket; close the database and open it again"}
	}
	push := &PushOptions{Workers: 2, Now: l.options.Now, sizes: l.options.sizes}
	p := &pusher{db: rowsWithin{fileRows{l.file.Within(tx)}}, bucket: l.bucket, options: push.normal(), report: new(Report), last: l.last}
	_, _ = io.ReadFull(p.options.random, p.writer[:]) // it never fails
	var err error
	if p.goal, err = p.db.Position(ctx); err != nil {
		return err
	}
	for at := before; !reaches(at, p.goal); {
		if at, err = p.batch(ctx, at); err != nil {
			return outcome(err)
		}
	}
	l.reached(p.last)
	return nil
}

func (l *live) end() replica.Position {
	if l.last == nil {
		return replica.Position{}
	}
	return l.last.After
}

func (l *live) reached(last *link) {
	if last != nil {
		last.data = nil // nobody needs it any more
		l.last = last
		l.number.Store(last.Number)
	}
}

// outcome says what became of a group that was not appended.
func outcome(err error) error {
	switch {
	case errors.Is(err, errTaken):
		return commit.ErrUpstreamAhead
	case errors.Is(err, ErrUnknown):
		return &stardust.Error{
			Status: stardust.StatusIO, Code: CodeUnknownOutcome, Op: "commit",
			Message: "the bucket does not answer, and it is not known whether the write took place; read again once it does", Err: err,
		}
	}
	return notWritten(err)
}

func notWritten(err error) error {
	return &stardust.Error{
		Status: stardust.StatusIO, Code: CodeNotWritten, Op: "commit", Message: "the bucket did not take the write", Err: advise(err, pushRights),
	}
}

// NotTaken implements commit.Upstream.
func (l *live) NotTaken(err error) error { return notWritten(err) }

// Follow implements commit.Upstream: it is a pull of the batches behind the last.
func (l *live) Follow(apply func(plan func(*commit.Plan) error) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Timeout)
	defer cancel()
	rows := rowsBehind{l.file, apply}
	p := &puller{
		db: rows, bucket: l.bucket, options: (*PullOptions)(nil).normal(), report: new(Report),
		local: l.end(), next: l.end(), last: l.last,
	}
	began := p.local
	for attempt := 0; ; attempt++ {
		next, err := l.bucket.get(ctx, l.number.Load()+1)
		if errors.Is(err, objectstore.ErrNotFound) {
			break
		}
		if err == nil {
			err = p.follows(next)
		}
		if err == nil {
			p.gather(next)
			err = p.apply(ctx)
		}
		if objectstore.IsTransient(err) && l.bucket.again(ctx, attempt) {
			p.last, p.next, p.group = l.last, l.end(), group{}
			continue
		}
		if err != nil {
			return advise(err, pullRights)
		}
		l.reached(next)
	}
	if l.options.Changed != nil && p.local != began {
		l.options.Changed(p.local.Transaction)
	}
	return nil
}

// rowsWithin is a file as a transaction under way sees it. It takes no memory of the
// database's budget: those who wait for the commit may have all of it.
type rowsWithin struct{ fileRows }

func (r rowsWithin) read(ctx context.Context, c replica.Chunk, use func(data []byte) error) error {
	data := make([]byte, c.Size)
	if err := r.ReadChunk(ctx, c.Row, data); err != nil {
		return err
	}
	return use(data)
}

// rowsBehind is a file that follows the bucket.
type rowsBehind struct {
	fileRows
	apply func(plan func(*commit.Plan) error) error
}

func (r rowsBehind) draft() draft { return r.NewUpstreamDraft(r.apply) }
