package commit

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Upstream is a place elsewhere that decides about commits: a group of writes takes
// place when the upstream has it. Its methods are called on the queue's goroutine, one
// at a time.
type Upstream interface {
	// Append makes what a group wrote durable elsewhere. It is called in the group's
	// transaction, before that is committed here; before is how far the tables
	// reached. ErrUpstreamAhead says that the upstream has what the tables lack, and
	// nothing of the group. After any other error the group may be there.
	Append(tx *catalog.Tx, before catalog.Position) error
	// Follow brings what the upstream has and the tables lack. apply commits one
	// plan, whose chunks were added to the heap.
	Follow(apply func(plan func(*Plan) error) error) error
	// NotTaken is the error of a group's writes that were not appended, since others
	// came before and Follow failed.
	NotTaken(err error) error
}

// ErrUpstreamAhead is the error of an Append that others came before.
var ErrUpstreamAhead = errors.New("the upstream has commits that are not here")

// ErrUpstreamKeeps is the error of a write that forgets revisions: an upstream has them
// all.
var ErrUpstreamKeeps = errors.New("a database in a bucket keeps its whole history")

// UpstreamError is the error of a group that an upstream has not taken, or may have
// taken. All writes of the group have it.
type UpstreamError struct{ Err error }

// Error implements error.
func (e *UpstreamError) Error() string { return e.Err.Error() }

// Unwrap returns the upstream's error.
func (e *UpstreamError) Unwrap() error { return e.Err }

// Attach makes commits go to an upstream from now on. The tables must have what it
// has.
func (q *Queue) Attach(ctx context.Context, u Upstream) error {
	return q.alone(ctx, func() error { q.upstream = u; return nil })
}

// Follow brings what the upstream has. It returns ErrHeld while writes are held.
func (q *Queue) Follow(ctx context.Context) error { return q.alone(ctx, q.follow) }

// alone runs a function on the queue's goroutine, outside of any transaction.
func (q *Queue) alone(ctx context.Context, do func() error) error {
	_, err := q.commit(&request{ctx: ctx, alone: do})
	return err
}

// runAlone runs what is to run outside of transactions, and returns the writes.
func runAlone(group []*request) []*request {
	writes := group[:0]
	for _, r := range group {
		if r.alone == nil {
			writes = append(writes, r)
			continue
		}
		if err := r.alone(); err != nil {
			r.fail(err)
		} else {
			finish([]*request{r})
		}
	}
	return writes
}

func (q *Queue) follow() error {
	if q.upstream == nil {
		return nil
	}
	return q.upstream.Follow(func(plan func(*Plan) error) error {
		if err := q.syncChunks(); err != nil {
			return err
		}
		next := q.next
		err := q.catalog.Write(context.Background(), func(tx *catalog.Tx) error {
			p := &Plan{tx: tx, next: next}
			err := plan(p)
			next = p.next
			return err
		})
		if err == nil {
			q.next = next
		}
		return err
	})
}

// apply writes a group, to the upstream when there is one. When others came before,
// what they wrote is applied, and the plans run again on that.
func (q *Queue) apply(group []*request) error {
	for {
		appended, err := q.write(group)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrUpstreamAhead):
			err = q.follow()
		case appended:
			// The upstream has the group, so it takes place; here it is applied as
			// others' are.
			return q.follow()
		default:
			return err
		}
		if err != nil {
			return &UpstreamError{q.upstream.NotTaken(err)}
		}
	}
}

// appendUpstream hands what a transaction wrote to the upstream.
func (q *Queue) appendUpstream(tx *catalog.Tx, before catalog.Position) (appended bool, err error) {
	forgotten, err := tx.HasForgotten()
	if err == nil && forgotten {
		err = ErrUpstreamKeeps
	}
	if err != nil {
		return false, &UpstreamError{err}
	}
	after, err := tx.Position()
	if err != nil || after == before {
		return false, err
	}
	if err := q.upstream.Append(tx, before); err != nil {
		return false, &UpstreamError{err}
	}
	return true, nil
}
