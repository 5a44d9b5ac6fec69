package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/bucketdb/bucketmetrics"
	"github.com/stardustdb/stardust/objectstore"
)

// following pushes until it is interrupted, which is no failure, and reports
// each push.
func (p *pushing) following(ctx context.Context, db *stardust.DB, store objectstore.Store, to place) error {
	collector := bucketmetrics.NewCollector(p.env.now)
	stop, err := p.serveMetrics(ctx, collector)
	if err != nil {
		return err
	}
	defer stop()
	name := p.env.name(redacted(to.text))
	err = bucketdb.Follow(ctx, db, store, &bucketdb.FollowOptions{
		PushOptions: bucketdb.PushOptions{Now: p.env.now, Problem: p.env.problem}, Every: p.every,
		Status: func(s bucketdb.Status) {
			collector.Listen(s)
			switch {
			case s.Report == nil:
			case s.Err != nil && !s.Again: // it is the command's own error
			case s.Err != nil:
				p.env.notice("%s is behind since %s: %s; trying again", name, s.Since.UTC().Format(time.RFC3339), explain(aboutStore(to.text, s.Err)))
			case p.json:
				_ = p.env.printJSON(carriedReport(s.Report)) // see Flush
			case s.Report.Batches > 0:
				p.env.println(carriedText("push", "Pushed", name, s.Report))
			}
			_ = p.env.out.Flush() // a reader of the pipe waits for it; a broken pipe also fails the next write
		},
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveMetrics serves them until stop is called, if that is asked for.
func (p *pushing) serveMetrics(ctx context.Context, collector prometheus.Collector) (stop func(), err error) {
	if p.metrics == "" {
		return func() {}, nil
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.metrics)
	if err != nil {
		return nil, about("--metrics "+p.metrics, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it ends with Close
	}()
	p.env.notice("metrics at http://%s/metrics", listener.Addr())
	return func() {
		_ = server.Close() // nothing is lost
		<-done
	}, nil
}
