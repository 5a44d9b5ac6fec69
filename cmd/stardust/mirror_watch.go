package main

import (
	"context"
	"time"

	"github.com/stardustdb/stardust/mirror"
)

// downloadWatch shows a mirror's downloads on a bar until it is done.
type downloadWatch struct {
	mirror *mirror.Mirror
	bar    *bar
	cancel context.CancelFunc
	ended  chan struct{}
}

// watchStep is how often the bar looks.
const watchStep = 200 * time.Millisecond

func (e *env) watchDownloads(ctx context.Context, m *mirror.Mirror) *downloadWatch {
	ctx, cancel := context.WithCancel(ctx)
	w := &downloadWatch{m, e.newBar("warming", 0), cancel, make(chan struct{})}
	go func() {
		defer close(w.ended)
		for (mirror.SystemClock{}).Sleep(ctx, watchStep) == nil {
			w.look()
		}
	}()
	return w
}

// look updates the bar: what the downloads under way still lack counts towards
// the total.
func (w *downloadWatch) look() {
	stats := w.mirror.Handle().Stats()
	total := stats.DownloadedBytes
	for _, d := range stats.Downloads {
		total += max(0, d.Size-d.Done)
	}
	w.bar.setTotal(total)
	w.bar.set(stats.DownloadedBytes)
}

// done ends the bar and returns the mirror's statistics.
func (w *downloadWatch) done() mirror.Stats {
	w.cancel()
	<-w.ended
	stats := w.mirror.Handle().Stats()
	w.bar.done(stats.DownloadedBytes)
	return stats
}
