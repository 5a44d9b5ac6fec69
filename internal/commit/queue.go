package commit

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
)

// maxGroup bounds how many writes share one durable commit.
const maxGroup = 512

// Queue runs the writes of a database one after the other on a single
// goroutine. Writes that wait at the same time share one durable commit, yet
// each sees the effects of those before it, and one that is refused changes
// nothing. All methods may be called concurrently.
type Queue struct {
	catalog    *catalog.Catalog
	syncChunks func() error
	now        func() time.Time

	requests chan *request
	stop     chan struct{}
	done     chan struct{}

	mu    sync.Mutex
	holds int

	// upstream decides about commits, when there is one; only the committing
	// goroutine uses it.
	upstream Upstream

	// next is the next id of the one sequence of entities and transactions;
	// only the committing goroutine uses it.
	next int64
}

// Write is one function that waits its turn.
type Write struct {
	// Plan refuses or collects facts. It may run more than once, when a group
	// fails and its writes are tried one by one; only the last run counts. It
	// may write to the Plan's Tx once it can no longer refuse.
	Plan func(*Plan) error
	// Chunks says that Plan publishes chunks, which must be durable first.
	Chunks bool
}

// request is a write in the queue, and what became of it.
type request struct {
	Write
	ctx context.Context //nolint:containedctx // the caller waits for this very write
	// always runs even while writes are held.
	always bool
	// alone runs in place of the plan, outside of any transaction.
	alone func() error

	revision int64
	err      error
	finished chan struct{}
}

// Start begins a queue over the live tables, which nothing else may write.
// syncChunks makes appended chunks durable; it runs before the commit of writes
// that publish some. now gives the transactions' times. last is the greatest id
// of an entity or transaction. The caller ends it with Close.
func Start(c *catalog.Catalog, syncChunks func() error, now func() time.Time, last int64) *Queue {
	q := &Queue{
		catalog: c, syncChunks: syncChunks, now: now, next: last + 1,
		requests: make(chan *request, maxGroup),
		stop:     make(chan struct{}), done: make(chan struct{}),
	}
	go q.run()
	return q
}

// Close ends the queue after the writes that it has; later ones get ErrClosed.
// It may be called once.
func (q *Queue) Close() {
	close(q.stop)
	<-q.done
}

// Commit queues a write and waits until it is durable or refused. It returns
// the transaction's id, zero when there was nothing to write. When ctx ends
// before the write's turn comes, it returns ctx's error and nothing is written;
// after that it waits, so that the caller knows.
func (q *Queue) Commit(ctx context.Context, w Write) (int64, error) {
	return q.commit(&request{Write: w, ctx: ctx})
}

func (q *Queue) commit(r *request) (int64, error) {
	r.finished = make(chan struct{})
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case <-q.stop:
		return 0, ErrClosed
	default:
	}
	select {
	case q.requests <- r:
	case <-q.stop:
		return 0, ErrClosed
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
	// From here on the write happens or not, whether ctx ends or not, and the
	// caller must learn which: a commit takes milliseconds.
	select {
	case <-r.finished:
	case <-q.done:
		select {
		case <-r.finished:
		default:
			return 0, ErrClosed
		}
	}
	return r.revision, r.err
}

func (q *Queue) run() {
	defer close(q.done)
	for {
		select {
		case r := <-q.requests:
			// Those whose write has just been committed may come with the
			// next one at once: let them, and share the flush.
			runtime.Gosched()
			q.commitGroup(q.gather(r))
		case <-q.stop:
			q.drain()
			return
		}
	}
}

// gather takes what waits behind the first write.
func (q *Queue) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-q.requests:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// drain commits the writes that were queued before the close.
func (q *Queue) drain() {
	for {
		select {
		case r := <-q.requests:
			q.commitGroup(q.gather(r))
		default:
			return
		}
	}
}
