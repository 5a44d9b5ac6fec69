// Package clock has the default wait of every package whose clock can be
// injected.
package clock

import (
	"context"
	"time"
)

// Sleep returns nil after d, or ctx's error when ctx ends earlier or has ended.
// It obeys testing/synctest.
func Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
