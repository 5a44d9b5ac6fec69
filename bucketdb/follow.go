package bucketdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// FollowOptions are the options of [Follow]. A nil pointer means the zero value.
type FollowOptions struct {
	PushOptions
	// Every is how often to look for something new; zero means a second. Looking
	// costs no request.
	Every time.Duration
	// Backoff says how long to wait after a push that failed for a reason that may
	// pass.
	Backoff objectstore.Backoff
	// Status is called when a push begins and when it ends, also when it failed.
	Status func(Status)
	// Sleep waits; nil means a real timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Status says how far a bucket is behind a file that [Follow] pushes.
type Status struct {
	// Pushed is the latest revision that the bucket has, as far as is known.
	Pushed int64
	// Local is the file's.
	Local int64
	// Since is when the bucket was first seen to lack something; zero if it lacks
	// nothing.
	Since time.Time
	// Report says what the push did; it is nil when one begins.
	Report *Report
	// Err is why it failed, or nil. Again says that the push is made again.
	Err   error
	Again bool
}

// Follow pushes what is committed to a file until ctx ends, and returns its
// error. The file may be open read-only while another process writes it.
// Passing failures, of the network above all, are waited out. It returns those
// that last: the two have diverged, somebody else pushed, an object is damaged,
// or the store refuses.
func Follow(ctx context.Context, db *stardust.DB, store objectstore.Store, options *FollowOptions) error {
	var o FollowOptions
	if options != nil {
		o = *options
	}
	o.PushOptions = o.normal()
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.Sleep == nil {
		o.Sleep = clock.Sleep
	}
	f := follower{db: db, store: store, options: o}
	return f.run(ctx)
}

// follower is one Follow under way.
type follower struct {
	db      *stardust.DB
	store   objectstore.Store
	options FollowOptions

	pushed  replica.Position // what the last successful push reached at least
	began   bool             // there was one
	since   time.Time        // when something to push was first seen; zero when there is nothing
	failed  int              // pushes in a row
	current Status
}

func (f *follower) run(ctx context.Context) error {
	for {
		wait, err := f.look(ctx)
		if err != nil {
			return err
		}
		if err := f.options.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// look pushes when there is something new, and returns how long to wait.
func (f *follower) look(ctx context.Context) (time.Duration, error) {
	local, err := f.db.Replica().Position(ctx)
	if err != nil {
		return 0, err
	}
	if f.began && local == f.pushed {
		return f.options.Every, nil
	}
	if f.since.IsZero() {
		f.since = f.options.Now()
	}
	f.current.Local, f.current.Report, f.current.Err, f.current.Again = local.Transaction, nil, nil, false
	f.tell()
	report, err := Push(ctx, f.db, f.store, &f.options.PushOptions)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	f.current.Report, f.current.Err = report, err
	if report.Revision > 0 {
		f.current.Pushed = report.Revision
	}
	if err == nil {
		f.began, f.pushed, f.since, f.failed = true, local, time.Time{}, 0
		f.tell()
		return f.options.Every, nil
	}
	f.current.Again = !lasting(err)
	f.tell()
	if !f.current.Again {
		return 0, err
	}
	f.failed++
	return f.options.Backoff.Delay(f.failed-1, rand.Float64()), nil
}

func (f *follower) tell() {
	f.current.Since = f.since
	if f.options.Status != nil {
		f.options.Status(f.current)
	}
}

// lasting reports whether another push would fail in the same way.
func lasting(err error) bool {
	for _, kind := range []error{
		ErrDiverged, ErrBehind, ErrOtherDatabase, ErrDamaged, ErrNewer, objectstore.ErrUnsupported,
		objectstore.ErrPermissionDenied, objectstore.ErrUnauthenticated, objectstore.ErrInvalidPath, objectstore.ErrInvalidOption,
		stardust.StatusClosed, stardust.StatusEvaluationFailed,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
