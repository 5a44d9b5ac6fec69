package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
)

// Codes of the errors of writes to a [DB], beside those of the stardust package.
const (
	// CodeUnknownOutcome, of StatusIO: whether the write took place is not known, since
	// the bucket does not answer. It may, and then shows as soon as the bucket does.
	CodeUnknownOutcome = "unknown_outcome"
	// CodeNotWritten, of StatusIO: the bucket did not take the write, and never will.
	CodeNotWritten = "not_written"
)

// LiveOptions are the options of [Open]. A nil pointer means the zero value.
type LiveOptions struct {
	// Database are those of the file, which cannot be read-only.
	Database *stardust.Options
	// URL is noted in a new file as where it came from, when not empty.
	URL string
	// Every is how often to look for what others wrote; zero means a second. While
	// there is nothing, it doubles up to ten times as long.
	Every time.Duration
	// Changed is called when something came from others, with the latest revision,
	// one call at a time.
	Changed func(revision int64)
	// Timeout is how long a write waits for the bucket; zero means a minute.
	Timeout time.Duration
	// Problem and Now are as in PushOptions.
	Problem func(error)
	Now     func() time.Time
	// Sleep waits; nil means a real timer.
	Sleep func(ctx context.Context, d time.Duration) error

	sizes []int64 // of bundles, for tests
}

// DB is a database of which the bucket has every commit before the write that made it
// returns. Others may write to the same bucket: each write sees what all before it
// left, as if there were one database. Reads are of the file, which has everything,
// and show what others wrote once it has come; see [DB.Sync].
type DB struct {
	*stardust.DB
	live *live
	stop context.CancelFunc
	work sync.WaitGroup
}

// Open opens the database in a store for reading and writing, with a file that is a
// replica of it: one that is missing is cloned, or begins the database when there is
// none in the store. What only one of the two has is brought to the other first. The
// file is an ordinary one, which opens without the bucket, too; what is written to it
// then is pushed by the next Open, unless others have written.
//
// A write returns once the bucket has it. Writes that wait at the same time share a
// batch. A write that comes after another's is made anew on what that left, so that it
// may be refused for it, as by an expected revision. Errors of StatusIO with
// CodeNotWritten and CodeUnknownOutcome say what became of a write that the bucket did
// not answer for.
//
// It returns the errors of Clone, Pull and Push: ErrDiverged when each has something
// that the other lacks. Close it when done.
func Open(ctx context.Context, store objectstore.Store, path string, options *LiveOptions) (*DB, error) {
	o := options.normal()
	if o.Database.ReadOnly {
		return nil, errors.New("a database that is open for the bucket's sake cannot be read-only; pull into the file instead")
	}
	if err := provide(ctx, store, path, &o); err != nil {
		return nil, err
	}
	inner, err := stardust.Open(path, o.Database)
	if err != nil {
		return nil, err
	}
	db := &DB{DB: inner, live: &live{file: rowsOfFile(inner), options: o}}
	if err := db.live.attach(ctx, store, inner); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	db.stop = stop
	db.work.Go(func() { db.live.poll(background) })
	return db, nil
}

func (o *LiveOptions) normal() LiveOptions {
	var n LiveOptions
	if o != nil {
		n = *o
	}
	if n.Database == nil {
		n.Database = new(stardust.Options)
	}
	if n.Every <= 0 {
		n.Every = time.Second
	}
	if n.Timeout <= 0 {
		n.Timeout = time.Minute
	}
	if n.Sleep == nil {
		n.Sleep = clock.Sleep
	}
	return n
}

// provide clones a file that is missing, when there is anything to clone.
func provide(ctx context.Context, store objectstore.Store, path string, o *LiveOptions) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, err := Clone(ctx, store, path, &PullOptions{URL: o.URL, Problem: o.Problem, sizes: o.sizes})
	if errors.Is(err, ErrNoDatabase) {
		return nil // it begins with this file
	}
	return err
}

// Sync brings what others wrote until now, so that reads show it.
func (db *DB) Sync(ctx context.Context) error { return db.live.file.Follow(ctx) }

// Close ends the database as that of the stardust package does. Every write that
// returned is in the bucket.
func (db *DB) Close() error {
	db.stop()
	db.work.Wait()
	return db.DB.Close()
}

// live is the upstream of an open file: see [commit.Upstream].
type live struct {
	file    fileRows
	bucket  *bucket
	options LiveOptions

	last    *link        // the last batch that the file has; the queue's goroutine uses it
	number  atomic.Int64 // of that
	bundled int64        // up to which bundles were looked after; of poll alone
}

// attach makes the file and the bucket equal, and has commits go there.
func (l *live) attach(ctx context.Context, store objectstore.Store, db *stardust.DB) error {
	pull := &PullOptions{URL: l.options.URL, Problem: l.options.Problem, sizes: l.options.sizes}
	push := &PushOptions{Problem: l.options.Problem, Now: l.options.Now, sizes: l.options.sizes}
	for {
		if _, err := Pull(ctx, db, store, pull); err != nil && !errors.Is(err, ErrNoDatabase) {
			return err
		}
		p := &pusher{db: l.file, options: push.normal(), report: new(Report)}
		err := advise(p.run(ctx, store), pushRights)
		if errors.Is(err, ErrBehind) {
			continue // others are writing
		}
		if err != nil {
			return err
		}
		l.bucket = p.bucket
		l.bucket.again = again
		l.reached(p.last)
		l.bundled = l.number.Load()
		at, err := l.file.Position(ctx)
		if err != nil {
			return err
		}
		if at == l.end() {
			return l.file.Attach(ctx, l)
		}
	}
}

// again waits before a batch is sent again, until the caller's patience ends.
func again(ctx context.Context, attempt int) bool {
	return clock.Sleep(ctx, min(50*time.Millisecond<<min(attempt, 10), 5*time.Second)) == nil
}

// poll follows the bucket until ctx ends. What fails is tried again: reads go on from
// what the file has.
func (l *live) poll(ctx context.Context) {
	wait := l.options.Every
	for l.options.Sleep(ctx, wait) == nil {
		came, err := l.look(ctx)
		if err != nil && ctx.Err() == nil {
			l.bucket.tell(fmt.Errorf("look for what others wrote: %w", err))
		}
		if wait = min(2*wait, 10*l.options.Every); came {
			wait = l.options.Every
		}
	}
}

// look follows the bucket when there is something new, and writes the bundles that
// are due.
func (l *live) look(ctx context.Context) (came bool, err error) {
	n := l.number.Load()
	if size := l.bucket.sizes[0]; n/size > l.bundled/size {
		if err := l.bucket.bundle(ctx, n); err != nil {
			return false, err
		}
		l.bundled = n
	}
	_, err = objectstore.Head(ctx, l.bucket.store, logPath(n+1))
	if errors.Is(err, objectstore.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = l.file.Follow(ctx)
	}
	return err == nil, err
}
