package retry

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
)

// ErrAmbiguous is in the chain of an error, beside ErrAlreadyExists,
// ErrPrecondition, ErrNotFound or ErrUploadNotFound, when an earlier attempt of
// the same call may have succeeded and be what the last one ran into.
var ErrAmbiguous = errors.New("an earlier attempt may have succeeded")

// Options are the options of [New]. The zero value has the defaults of Rust's
// object_store.
type Options struct {
	// Backoff is the wait between attempts, unless the store asks for more.
	Backoff objectstore.Backoff
	// MaxRetries is how often a call is repeated; zero means 10.
	MaxRetries objectstore.Retries
	// Timeout bounds the time from the first attempt to the beginning of the
	// last one; zero means 3 minutes, less than zero no bound.
	Timeout time.Duration
	// UniqueBodies says that the bodies of conditional writes are unique to their
	// call, for instance because they contain a random number. When such a write
	// would be ambiguous, the store reads the object back, and the write has
	// succeeded if the bytes are its own.
	UniqueBodies bool
	// Sleep waits; nil means a timer that ends with the context.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock of Timeout; nil means time.Now.
	Now func() time.Time
	// Random draws from [0, 1) for the waits; nil means math/rand.
	Random func() float64
	// Logger is told about every repetition, at level Warn; nil means nobody.
	Logger *slog.Logger
}

func (o *Options) normalize() {
	o.MaxRetries = o.MaxRetries.Or(10)
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}
	if o.Sleep == nil {
		o.Sleep = clock.Sleep
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
