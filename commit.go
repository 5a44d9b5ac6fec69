package stardust

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
)

// maxGroup bounds how many writes share one durable commit.
const maxGroup = 512

// commitQueue runs the writes of a database one after the other on a single
// goroutine. Writes that wait at the same time share one durable commit, yet
// each sees the effects of those before it, and one that is refused changes
// nothing.
type commitQueue struct {
	catalog *catalog.Catalog
	// syncHeap makes appended chunks durable; it runs before the commit of
	// writes that publish some.
	syncHeap func() error
	now      func() time.Time

	requests chan *write
	stop     chan struct{}
	done     chan struct{}

	mu    sync.Mutex
	holds int

	// next is the next id of the one sequence of entities and transactions;
	// only the committing goroutine uses it.
	next int64
}

// write is one function that waits its turn.
type write struct {
	ctx context.Context //nolint:containedctx // the caller waits for this very write
	// plan refuses or collects facts. It may run more than once, when a
	// group fails and its writes are tried one by one; only the last run
	// counts. It may write payload rows to the Tx before it can no longer
	// fail.
	plan func(*planner) error
	// chunks says that plan publishes chunks, which must be durable first.
	chunks bool
	// always runs even while writes are held.
	always bool

	revision int64
	err      error
	finished chan struct{}
}

func newCommitQueue(c *catalog.Catalog, syncHeap func() error, now func() time.Time, last int64) *commitQueue {
	q := &commitQueue{
		catalog: c, syncHeap: syncHeap, now: now, next: last + 1,
		requests: make(chan *write, maxGroup),
		stop:     make(chan struct{}), done: make(chan struct{}),
	}
	go q.run()
	return q
}

// close ends the queue after the writes under way; later ones get closed.
func (q *commitQueue) close() {
	close(q.stop)
	<-q.done
}

// commit queues a write and waits until it is durable or refused. It returns
// the transaction's id, zero when there was nothing to write.
func (q *commitQueue) commit(ctx context.Context, w *write) (int64, error) {
	w.ctx, w.finished = ctx, make(chan struct{})
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case <-q.stop:
		return 0, errClosed()
	default:
	}
	select {
	case q.requests <- w:
	case <-q.stop:
		return 0, errClosed()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	// From here on the write happens or not, whatever becomes of ctx, and the
	// caller must know which: a commit takes milliseconds.
	select {
	case <-w.finished:
	case <-q.done:
		select {
		case <-w.finished:
		default:
			return 0, errClosed()
		}
	}
	return w.revision, w.err
}

func errClosed() *Error {
	return &Error{Status: StatusClosed, Message: "the database is closed"}
}

func (q *commitQueue) run() {
	defer close(q.done)
	for {
		select {
		case w := <-q.requests:
			// Those whose write has just been committed may come with the
			// next one at once: let them, and share the flush.
			runtime.Gosched()
			q.commitGroup(q.gather(w))
		case <-q.stop:
			q.drain()
			return
		}
	}
}

// gather takes what waits behind the first write.
func (q *commitQueue) gather(first *write) []*write {
	group := []*write{first}
	for len(group) < maxGroup {
		select {
		case w := <-q.requests:
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}

// drain commits the writes that were queued before the close.
func (q *commitQueue) drain() {
	for {
		select {
		case w := <-q.requests:
			q.commitGroup(q.gather(w))
		default:
			return
		}
	}
}

func (q *commitQueue) commitGroup(group []*write) {
	pending := q.admit(group)
	if len(pending) == 0 {
		return
	}
	if pending = q.syncChunks(pending); len(pending) == 0 {
		return
	}
	err := q.apply(pending)
	if err == nil {
		finish(pending)
		return
	}
	if len(pending) == 1 {
		pending[0].fail(err)
		return
	}
	// Something in the group can't be applied. Alone, each write succeeds or
	// fails for its own reasons.
	for _, w := range pending {
		if err := q.apply([]*write{w}); err != nil {
			w.fail(err)
			continue
		}
		finish([]*write{w})
	}
}

// admit refuses writes whose caller has gone, and all while writes are held.
func (q *commitQueue) admit(group []*write) []*write {
	q.mu.Lock()
	held := q.holds > 0
	q.mu.Unlock()
	pending := group[:0]
	for _, w := range group {
		switch err := w.ctx.Err(); {
		case held && !w.always:
			w.fail(writesHeld())
		case err != nil:
			w.fail(err)
		default:
			pending = append(pending, w)
		}
	}
	return pending
}

// syncChunks makes the chunks durable that the group publishes.
func (q *commitQueue) syncChunks(group []*write) []*write {
	needed := false
	for _, w := range group {
		needed = needed || w.chunks
	}
	if !needed {
		return group
	}
	err := q.syncHeap()
	if err == nil {
		return group
	}
	rest := group[:0]
	for _, w := range group {
		if w.chunks {
			w.fail(err)
		} else {
			rest = append(rest, w)
		}
	}
	return rest
}

// apply runs a group in one SQLite transaction. Refused writes get their error
// here; an error returned means that nothing of the group was written.
func (q *commitQueue) apply(group []*write) error {
	next := q.next
	err := q.catalog.Write(context.Background(), func(tx *catalog.Tx) error {
		now := q.now()
		for _, w := range group {
			w.revision, w.err = 0, nil
			p := &planner{tx: tx, next: next}
			if err := w.plan(p); err != nil {
				if !refusal(err) {
					return err
				}
				w.err = err
				continue
			}
			if len(p.facts) == 0 {
				continue
			}
			t := p.transaction(now)
			if err := tx.Apply(t); err != nil {
				return err
			}
			w.revision, next = t.ID, p.next
		}
		return nil
	})
	if err == nil {
		q.next = next
	}
	return err
}

// refusal reports whether a plan said no, rather than failed to read.
func refusal(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status != StatusIO && e.Status != StatusEvaluationFailed
}

func (w *write) fail(err error) {
	w.revision, w.err = 0, err
	close(w.finished)
}

func finish(group []*write) {
	for _, w := range group {
		close(w.finished)
	}
}

// hold makes every later write conflict until release. It returns when all
// earlier ones are done.
func (q *commitQueue) hold(ctx context.Context) (release func(), err error) {
	q.mu.Lock()
	q.holds++
	q.mu.Unlock()
	release = sync.OnceFunc(func() {
		q.mu.Lock()
		q.holds--
		q.mu.Unlock()
	})
	barrier := &write{plan: func(*planner) error { return nil }, always: true}
	if _, err := q.commit(ctx, barrier); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// held reports whether writes are held.
func (q *commitQueue) held() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holds > 0
}

func writesHeld() *Error {
	return conflict(CodeWritesHeld, "the database holds writes; try again when they are released")
}
