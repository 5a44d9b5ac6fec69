package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	gateway "github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/gateway/sidecar"
	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/throttle"
	"github.com/stardustdb/stardust/slatedb"
)

// The buckets of a slateUpstream.
const (
	fastBucket = "fast" // as the machine is
	slowBucket = "slow" // every call waits for slateLatency
)

// slateLatency is how far away the upstream is.
const slateLatency = 20 * time.Millisecond

// slateUpstream is one store in memory, served as two buckets.
type slateUpstream struct {
	store objectstore.Store
	url   string
	close func()
}

func (b *bench) openUpstream() (*slateUpstream, error) {
	store := memstore.New(nil)
	handler, err := gateway.NewHandler(nil, gateway.Options{
		Buckets: map[string]objectstore.Store{
			fastBucket: store, slowBucket: throttle.New(store, throttle.Options{Latency: slateLatency}),
		},
		Region: benchRegion, Credentials: map[string]string{benchAccess: benchSecret},
	})
	if err != nil {
		return nil, err
	}
	url, stop, err := b.serve(gateway.NewServer(handler, gateway.ServerOptions{}).Serve)
	if err != nil {
		return nil, err
	}
	return &slateUpstream{store, url, stop}, nil
}

// openSidecar serves the slow bucket through a mirror of the database at root,
// as the bucket benchBucket, with all defaults.
func (b *bench) openSidecar(upstream *slateUpstream, root objectstore.Path) (url string, closeAll func() error, err error) {
	store, err := openS3(b.ctx, upstream.url, slowBucket)
	if err != nil {
		return "", nil, err
	}
	s, err := sidecar.New(b.ctx, sidecar.Options{
		Upstream: store, Dir: filepath.Join(b.dir, "sidecar-"+string(root)), Bucket: benchBucket,
		Credentials: map[string]string{benchAccess: benchSecret},
		Database:    &slatedb.PolicyOptions{Root: &root},
	})
	if err != nil {
		return "", nil, err
	}
	url, stop, err := b.serve(gateway.NewServer(http.Handler(s), gateway.ServerOptions{}).Serve)
	if err != nil {
		_ = s.Close(b.ctx)
		return "", nil, err
	}
	closeAll = func() error {
		stop()
		return s.Close(context.WithoutCancel(b.ctx))
	}
	select {
	case <-s.Ready():
		return url, closeAll, nil
	case <-b.ctx.Done():
		_ = closeAll() // interrupted
		return "", nil, b.ctx.Err()
	}
}

// serveBare serves a directory as the bucket benchBucket, its SSTs by net/http's
// file server, which checks neither signatures nor bytes.
func (b *bench) serveBare(store objectstore.Store, dir string) (url string, stop func(), err error) {
	handler, err := gateway.NewHandler(store, gateway.Options{
		Bucket: benchBucket, Region: benchRegion, Credentials: map[string]string{benchAccess: benchSecret},
	})
	if err != nil {
		return "", nil, err
	}
	files := http.StripPrefix("/"+benchBucket, http.FileServer(http.Dir(dir)))
	return b.serve(serveHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".sst") {
			files.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})))
}

// waitForRuns waits until the database has sorted runs and no more SSTs in L0
// than a compaction begins with.
func (u *slateUpstream) waitForRuns(ctx context.Context, root objectstore.Path) error {
	ctx, cancel := context.WithTimeout(ctx, nodeLimit)
	defer cancel()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for {
		// The collector may delete a manifest while it is read.
		m, err := slatedb.LatestManifest(ctx, u.store, root)
		if err == nil && len(m.Root.SortedRuns) > 0 && len(m.Root.L0) < slateSources {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was not compacted within %v: %w", root, nodeLimit, ctx.Err())
		case <-ticks.C:
		}
	}
}
