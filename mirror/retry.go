package mirror

import (
	"context"
	"fmt"
	"time"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// retrier repeats the mirror's own remote calls after transient errors. The
// retry decorator can't: it lies above the mirror.
type retrier struct {
	clock   Clock
	backoff objectstore.Backoff
	random  func() float64
	max     objectstore.Retries
	shrink  func(n int) int // gives up idle open files
	retried func(err error) // called before every repetition
}

// wait waits before repetition number *n of a call that failed with err, and
// counts it. It returns the error to report instead when there is to be none.
func (r *retrier) wait(ctx context.Context, n *int, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	tooMany := local.IsTooManyFiles(err)
	if !tooMany && !objectstore.IsTransient(err) || objectstore.IsNonRetryable(err) {
		return err
	}
	if !r.max.Allow(*n) {
		return objectstore.NonRetryable(fmt.Errorf("gave up after %d retries: %w", *n, err))
	}
	if tooMany {
		// The remote's connections need descriptors that idle files hold.
		r.shrink(fileShare)
	}
	delay := max(r.backoff.Delay(*n, r.random()), objectstore.RetryAfter(err), time.Millisecond)
	*n++
	r.retried(err)
	return r.clock.Sleep(ctx, delay)
}

// fileShare is how many idle files make room when the remote has none left.
const fileShare = 8
