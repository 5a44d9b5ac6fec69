package sidecar

import (
	"context"
	"errors"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/slatedb"
)

// warmState says how far the first warming is.
type warmState string

const (
	warming warmState = "warming"
	warmed  warmState = "warm"
	// idle: there is nothing to warm yet, because no database is known.
	idle warmState = "no database yet"
)

// warmth is the outcome of the latest attempt to warm.
type warmth struct {
	state warmState
	err   error // of an attempt that is repeated
}

// ready reports whether clients may be sent here.
func (w *warmth) ready() bool { return w.state != warming }

// warmPause is how long to wait before warming is tried again.
const warmPause = 5 * time.Second

// warmUp makes local what must be before the sidecar is ready. It tries until
// that succeeds: an upstream that is down now will be up again.
func (s *Sidecar) warmUp(ctx context.Context) {
	for {
		state, err := s.warmOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		s.warm.Store(&warmth{state, err})
		if err == nil {
			s.options.Logger.Info("ready", "state", string(state))
			close(s.ready)
			return
		}
		s.options.Logger.Warn("warming failed and is tried again", "error", err)
		if (mirror.SystemClock{}).Sleep(ctx, warmPause) != nil {
			return
		}
	}
}

func (s *Sidecar) warmOnce(ctx context.Context) (warmState, error) {
	// Even with nothing to warm: a sidecar that is ready has reached its upstream.
	for _, err := range s.options.Upstream.List(ctx, nil) {
		if err != nil {
			return warming, err
		}
		break
	}
	switch {
	case s.database != nil:
		root := s.options.Database.Root
		if root == nil {
			return idle, nil
		}
		// Reading the manifest through the mirror makes its SSTs local.
		_, err := slatedb.LatestManifest(ctx, s.mirror, *root)
		if errors.Is(err, slatedb.ErrNoDatabase) {
			return idle, nil
		}
		if err != nil {
			return warming, err
		}
	case s.options.Warm:
		if err := mirror.Warm(ctx, s.mirror.Handle(), s.options.WarmPrefix); err != nil {
			return warming, err
		}
	}
	return warmed, nil
}

// state returns how far the warming is. A database that was made after the
// start is warm: its manifests passed through here.
func (s *Sidecar) state() warmState {
	state := s.warm.Load().state
	if state == idle && s.database != nil && s.database.Status().ManifestID != 0 {
		return warmed
	}
	return state
}
