package retry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// attempts counts the attempts of one call.
type attempts struct {
	options *Options
	op      string
	path    objectstore.Path
	begin   time.Time
	failed  int   // attempts that failed in a row
	last    error // what the one before failed with
}

func (s *store) attempts(op string, path objectstore.Path) *attempts {
	return &attempts{options: &s.options, op: op, path: path, begin: s.options.Now()}
}

// again waits and returns nil when the call that failed with err is to be made
// again, or returns the error to give up with.
func (a *attempts) again(ctx context.Context, err error) error {
	ended := ctx.Err()
	switch {
	case !objectstore.IsTransient(err), ended != nil && errors.Is(err, ended):
		return a.giveUp(err)
	case ended != nil:
		return a.ended(ended, err)
	}
	a.failed++
	wait := max(a.options.Backoff.Delay(a.failed-1, a.options.Random()), objectstore.RetryAfter(err))
	if !a.options.MaxRetries.Allow(a.failed - 1) {
		return a.giveUp(err)
	}
	if a.options.Timeout > 0 && a.options.Now().Add(wait).Sub(a.begin) > a.options.Timeout {
		return a.giveUp(err)
	}
	a.last = err
	a.options.Logger.WarnContext(ctx, "object store call failed, trying again",
		slog.String("op", a.op), slog.String("path", string(a.path)), slog.Int("attempt", a.failed),
		slog.Duration("wait", wait), slog.Any("error", err))
	if ended := a.options.Sleep(ctx, wait); ended != nil {
		return a.ended(ended, err)
	}
	return nil
}

// ended is the error of a call whose context ended before it could be made
// again.
func (a *attempts) ended(ended, err error) error {
	return &objectstore.Error{Op: a.op, Path: string(a.path), Err: fmt.Errorf("%w before it could be tried again after: %w", ended, err)}
}

// progress says that the call got further: it is not failing any more.
func (a *attempts) progress() {
	a.failed, a.begin = 0, a.options.Now()
}

// repeated reports whether an earlier attempt's answer was lost.
func (a *attempts) repeated() bool { return a.last != nil }

// giveUp says how often the call was made.
func (a *attempts) giveUp(err error) error {
	if !a.repeated() {
		return err
	}
	attempts := fmt.Errorf("after %d attempts", a.failed+1)
	if a.failed > 0 && objectstore.IsTransient(err) {
		attempts = fmt.Errorf("after %d attempts", a.failed)
	}
	//nolint:errorlint // only the outermost is of this call
	if e, ok := err.(*objectstore.Error); ok {
		return &objectstore.Error{Op: e.Op, Store: e.Store, Path: e.Path, Err: fmt.Errorf("%w: %w", attempts, e.Err)}
	}
	return fmt.Errorf("%w: %w", attempts, err)
}

// ambiguous marks err when the success of an earlier attempt may have caused
// it.
func (a *attempts) ambiguous(err error, because ...error) error {
	if !a.repeated() || err == nil {
		return err
	}
	for _, sentinel := range because {
		if errors.Is(err, sentinel) {
			return &objectstore.Error{Op: a.op, Path: string(a.path), Err: fmt.Errorf("%w: %w", ErrAmbiguous, err)}
		}
	}
	return err
}

// do makes the call until it succeeds or is to be given up.
func (a *attempts) do(ctx context.Context, call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		if err := a.again(ctx, err); err != nil {
			return err
		}
	}
}
