package stardust

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
)

// DB is an open database file. All methods may be called concurrently. Close it
// when done; calls after that return StatusClosed.
type DB struct {
	options  Options
	file     *file
	catalog  *catalog.Catalog
	queue    *commit.Queue // nil when read-only
	payloads *payload.Store

	checking chan struct{} // holds a token while a check is under way

	// calls counts the calls and streams under way, so that Close can wait
	// for them; mu guards closing and streams.
	mu     sync.Mutex
	closed atomic.Bool
	calls  sync.WaitGroup
	// streams are open; Close ends those that their users forgot.
	streams map[*PluginStream]struct{}
	ctx     context.Context //nolint:containedctx // ends when the database closes; owned by it
	cancel  context.CancelCauseFunc
}

// Tree returns the operations on files, directories and payloads, on the latest
// state and in Go values.
func (db *DB) Tree() Tree { return Tree{db: db, at: catalog.Live} }

// Objects returns the same operations with documents, as the objects spec has
// them.
func (db *DB) Objects() Objects { return Objects{db.Tree()} }

// Close waits for the calls under way, abandons unfinished uploads, commits
// what was queued, and closes the file: at rest it is one file. Streams that
// are still open return StatusClosed from then on, but close them all the same.
// A second Close returns StatusClosed.
//
// Long calls are not waited for to their end: imports, exports, checks and
// backups stop at their next step and return StatusClosed. A ReadFrom or
// WriteTo that is inside its caller's reader or writer is not waited for; it
// returns StatusClosed once that returns. Do not call Close from a callback of
// a long call: it would wait for itself.
func (db *DB) Close() error {
	if db == nil {
		return withOp("close", commit.ErrClosed)
	}
	db.mu.Lock()
	if db.closed.Load() {
		db.mu.Unlock()
		return withOp("close", commit.ErrClosed)
	}
	db.closed.Store(true)
	db.mu.Unlock()
	db.cancel(commit.ErrClosed)
	db.calls.Wait()
	db.closeStreams()
	if db.queue != nil {
		db.queue.Close()
	}
	err := errors.Join(db.catalog.Close(), db.file.close())
	return withOp("close", err)
}

// enter marks a call as under way; the caller calls db.calls.Done.
func (db *DB) enter() error {
	if db == nil {
		return commit.ErrClosed
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed.Load() {
		return commit.ErrClosed
	}
	db.calls.Add(1)
	return nil
}

// task marks a long call as under way, and returns a context that also ends when
// the database closes. The caller calls end with the call's error, which
// becomes StatusClosed when that is why it was canceled.
func (db *DB) task(ctx context.Context) (inner context.Context, end func(error) error, err error) {
	if err := db.enter(); err != nil {
		return nil, nil, err
	}
	inner, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(db.ctx, cancel)
	end = func(err error) error {
		stop()
		cancel()
		db.calls.Done()
		return db.closing(ctx, err)
	}
	return inner, end, nil
}

// closing turns an error into StatusClosed when the end of db.ctx caused it,
// not the end of the caller's context.
func (db *DB) closing(ctx context.Context, err error) error {
	if errors.Is(asError(err), StatusCanceled) && ctx.Err() == nil && db.ctx.Err() != nil {
		return commit.ErrClosed
	}
	return err
}

// writable refuses a write before the caller puts any work into it.
func (db *DB) writable() error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.calls.Done()
	if db.queue == nil {
		return &Error{Status: StatusUnavailable, Code: CodeReadOnly, Message: "the database is open read-only"}
	}
	if db.queue.Held() {
		return commit.ErrHeld
	}
	return nil
}

// view runs queries, all on one snapshot when there are several. It runs fn
// once, or not at all.
func (db *DB) view(ctx context.Context, at int64, several bool, fn func(*catalog.View) error) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.calls.Done()
	if several {
		return db.catalog.Read(ctx, at, fn)
	}
	return db.catalog.ReadOne(ctx, at, fn)
}

// commit queues a write and waits for it.
func (db *DB) commit(ctx context.Context, w commit.Write) (int64, error) {
	if err := db.enter(); err != nil {
		return 0, err
	}
	defer db.calls.Done()
	return db.queue.Commit(ctx, w)
}
