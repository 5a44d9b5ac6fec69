package mirror

import (
	"context"
	"time"

	"github.com/stardustdb/stardust/internal/clock"
)

// A Clock is a Mirror's only source of time: for retry backoff, the remote
// scan, the background index and the last-modified time of mirrored writes. Its
// methods are called concurrently.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep returns nil after d, or ctx's error when ctx ends earlier.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the operating system's clock. It obeys testing/synctest.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() } //nolint:forbidigo // this is the clock

// Sleep implements Clock.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, d) }
