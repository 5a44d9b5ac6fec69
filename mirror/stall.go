package mirror

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

var errStalled = errors.New("the connection stalled")

// watchdog ends a remote call that makes no progress for a while: a connection
// may stay open and silent forever. It counts real time, as the network does.
type watchdog struct {
	parent context.Context //nolint:containedctx // no longer than the call that is watched
	ctx    context.Context //nolint:containedctx // the same
	cancel context.CancelCauseFunc
	limit  time.Duration // zero: none
	timer  *time.Timer   // nil without a limit
}

// watch begins to watch a call, which is to be made with ctx.
func watch(parent context.Context, limit time.Duration) *watchdog {
	w := &watchdog{parent: parent, limit: limit}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	if limit > 0 {
		w.timer = time.AfterFunc(limit, func() { w.cancel(errStalled) })
	}
	return w
}

// progress starts the call's time again.
func (w *watchdog) progress() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

// pause stops the clock until the next progress, while we do not wait for the
// remote.
func (w *watchdog) pause() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop ends the watch and the call's context.
func (w *watchdog) stop() {
	w.pause()
	w.cancel(nil)
}

// error returns why a call that ended with err failed: a stall is transient.
func (w *watchdog) error(err error) error {
	if err == nil || w.parent.Err() != nil || !errors.Is(context.Cause(w.ctx), errStalled) {
		return err
	}
	return objectstore.Transient(fmt.Errorf("%w: nothing came for %v: %w", errStalled, w.limit, err), 0)
}
