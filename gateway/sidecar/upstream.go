package sidecar

import (
	"context"
	"log/slog"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/limit"
	"github.com/stardustdb/stardust/objectstore/logging"
	objectmetrics "github.com/stardustdb/stardust/objectstore/metrics"
	"github.com/stardustdb/stardust/objectstore/throttle"
)

// upstream returns the upstream as the sidecar calls it: counted and timed, logged
// when the log is that detailed, and within the bounds. What a call waits for them
// does not count as its time.
func (o *Options) upstream(collectors *objectmetrics.Collectors) objectstore.Store {
	store := objectmetrics.New(o.Upstream, collectors)
	if o.Logger.Enabled(context.Background(), slog.LevelDebug) {
		store = logging.New(store, o.Logger)
	}
	if o.UpstreamBytesPerSecond > 0 {
		store = throttle.New(store, throttle.Options{BytesPerSecond: o.UpstreamBytesPerSecond})
	}
	return limit.New(store, o.UpstreamCalls)
}
