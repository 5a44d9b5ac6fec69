package sidecar

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/mirror"
	objectmetrics "github.com/stardustdb/stardust/objectstore/metrics"
	"github.com/stardustdb/stardust/slatedb"
)

// Sidecar is a mirror behind an S3 endpoint, with pages that tell how it is
// doing. It is an http.Handler, safe for concurrent use. Close it after the
// server has shut down.
type Sidecar struct {
	options  Options
	mirror   *mirror.Mirror
	database *slatedb.Policy // nil with another policy
	endpoint *s3.Handler
	pages    map[string]http.Handler

	cancel context.CancelFunc
	work   sync.WaitGroup
	warm   atomic.Pointer[warmth]
	ready  chan struct{}
}

// New opens the mirror and starts to warm it. ctx bounds New only.
//
// It returns an error that names what is missing or wrong in the options, and
// the mirror's InvalidConfig or Local when the directory can't be used.
func New(ctx context.Context, options Options) (*Sidecar, error) {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	calls := objectmetrics.NewCollectors(prometheus.Labels{"store": "upstream"})
	options.Upstream = options.upstream(calls)
	policy, database := options.policy()
	m, err := mirror.Open(ctx, options.Dir, options.Upstream, policy, options.mirror())
	if err != nil {
		return nil, err
	}
	s := &Sidecar{options: options, mirror: m, database: database, ready: make(chan struct{})}
	s.warm.Store(&warmth{state: warming})
	metrics, err := newMetrics(s, calls)
	if err == nil {
		front := &fallback{
			Mirror: m, upstream: options.Upstream,
			reads: metrics.fallbackReads, writes: metrics.fallbackWrites, logger: options.Logger,
		}
		s.endpoint, err = s3.NewHandler(front, options.endpoint(metrics.observe))
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	s.pages = s.newPages(metrics)
	background, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.work.Go(func() { s.warmUp(background) })
	return s, nil
}

// ServeHTTP serves a page or, for every other path, the S3 endpoint.
func (s *Sidecar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if page, ok := s.pages[strings.TrimPrefix(r.URL.Path, "/")]; ok {
		page.ServeHTTP(w, r)
		return
	}
	s.endpoint.ServeHTTP(w, r)
}

// Mirror returns the mirror, for its statistics. It is the sidecar's to close.
func (s *Sidecar) Mirror() *mirror.Mirror { return s.mirror }

// Ready returns a channel that is closed once the sidecar is ready.
func (s *Sidecar) Ready() <-chan struct{} { return s.ready }

// Close ends the background work and closes the mirror. Call it when no request
// is under way any more. If the local disk fails then, because it is full
// perhaps, only the startup index is lost: that is logged and no error.
func (s *Sidecar) Close(ctx context.Context) error {
	s.cancel()
	s.work.Wait()
	err := s.mirror.Close()
	if local, ok := errors.AsType[*mirror.Local](err); ok {
		s.options.Logger.Warn("the next start takes longer, since the local disk failed at the end", "error", local)
		err = nil
	}
	return errors.Join(s.endpoint.Close(ctx), err)
}
