package mirror

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// downloader runs flights, at most limit remote GETs at a time. Flights whose
// turn has come wait here for a slot: those that someone waits for first.
type downloader struct {
	remote   objectstore.Store
	local    *local.Dir
	ordering *ordering
	retry    *retrier
	stats    *counters
	logger   *slog.Logger
	fail     func(op string, path objectstore.Path, err error) error
	limit    int
	stall    time.Duration // the longest silence of a GET; zero: any
	buffers  sync.Pool     // of *[]byte
	// admit is the policy's; nil admits all.
	admit func(path objectstore.Path, size int64) bool

	wg      sync.WaitGroup
	mu      sync.Mutex
	urgent  []*flight
	later   []*flight
	busy    int // slots in use
	running map[*flight]context.CancelFunc
	closed  bool
}

// demand says how a download is wanted.
type demand struct {
	force      bool
	stale      *local.Entry // a local copy that won't do; may be nil
	background bool
	watcher    *Fetch // told of the end; may be nil
}

// satisfied reports whether a local copy, nil if there is none, makes the
// download needless.
func (d *demand) satisfied(current *local.Entry) bool {
	return current != nil && !d.force && current != d.stale
}

// launch has path downloaded, by a flight of its own or one that it joins. It
// returns nil when there is nothing to do: the path is local and idle.
func (d *downloader) launch(path objectstore.Path, how demand) *flight {
	// A manifest of ten thousand SSTs is fetched with each change, and nearly
	// all of them are local: those must not cost a flight each.
	if d.ordering.settled(path, func() bool { return how.satisfied(d.local.Index.Get(path)) }) {
		return nil
	}
	f := &flight{
		path: path, done: make(chan struct{}), interest: 1,
		force: how.force, stale: how.stale, background: how.background, prefetched: how.background,
	}
	if how.watcher != nil {
		f.watchers = []*Fetch{how.watcher}
	}
	f.size.Store(-1)
	f.turn = &turn{
		path: path, kind: turnDownload, flight: f,
		start:    func() { d.push(f) },
		canceled: func() { f.end(nil, context.Canceled, func() {}) },
	}
	return d.ordering.download(f, d.local.Index.Get, d.promote)
}

// push queues a flight whose turn has come.
func (d *downloader) push(f *flight) {
	f.mu.Lock()
	f.queued = true
	background := f.background
	f.mu.Unlock()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		d.refuse(f)
		return
	}
	if background {
		d.later = append(d.later, f)
	} else {
		d.urgent = append(d.urgent, f)
	}
	d.hire()
	d.mu.Unlock()
}

// promote moves a queued flight to those that someone waits for: it is in both
// queues from then on, and whoever takes it second finds it begun.
func (d *downloader) promote(f *flight) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.urgent = append(d.urgent, f)
	}
}

// hire starts a worker when there is work and a free slot. d.mu is held.
func (d *downloader) hire() {
	if d.busy < d.limit && len(d.urgent)+len(d.later) > 0 {
		d.busy++
		d.wg.Go(d.work)
	}
}

// work runs flights until there are none.
func (d *downloader) work() {
	for {
		d.mu.Lock()
		var f *flight
		switch {
		case len(d.urgent) > 0:
			f, d.urgent = pop(d.urgent)
		case len(d.later) > 0:
			f, d.later = pop(d.later)
		default:
			d.busy--
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		d.run(f)
	}
}

func pop(queue []*flight) (*flight, []*flight) {
	f := queue[0]
	queue[0] = nil
	if len(queue) == 1 {
		return f, nil
	}
	return f, queue[1:]
}

// lend takes a free slot for another GET of a flight that runs. It returns
// false when there is none, or a flight waits for it.
func (d *downloader) lend() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.busy >= d.limit || len(d.urgent)+len(d.later) > 0 {
		return false
	}
	d.busy++
	return true
}

// wanted reports whether a flight waits for a slot that was lent.
func (d *downloader) wanted() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.urgent)+len(d.later) > 0
}

// giveBack ends a lend.
func (d *downloader) giveBack() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
	d.hire()
}

// run runs a flight whose turn has come, unless it was canceled.
func (d *downloader) run(f *flight) {
	if !d.ordering.begin(f.turn) {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	release := func() { d.ordering.finish(f.turn) }
	if !f.begin(cancel, d.local.Index.Get(f.path)) {
		f.end(f.entry, f.err, release)
		return
	}
	d.mu.Lock()
	if d.closed {
		cancel()
	}
	d.running[f] = cancel
	d.mu.Unlock()
	e, err := d.download(ctx, f)
	d.mu.Lock()
	delete(d.running, f)
	closed := d.closed
	d.mu.Unlock()
	switch {
	case err == nil:
		bump(&d.stats.Downloads, 1)
		d.logger.Debug("downloaded", "path", f.path, "bytes", e.Size)
	case closed:
		err = d.fail("fetch", f.path, objectstore.ErrClosed)
	case ctx.Err() != nil:
		err = context.Canceled
	case isNotLocal(err):
		err = d.fail("fetch", f.path, err) // the policy's wish, not a failure
	default:
		err = d.failed(f, err)
	}
	f.end(e, err, release)
}

// failed counts and logs a failed download, and returns its error in the form
// that callers get.
func (d *downloader) failed(f *flight, err error) error {
	bump(&d.stats.DownloadFailures, 1)
	f.mu.Lock()
	prefetched := f.prefetched
	f.mu.Unlock()
	if prefetched {
		bump(&d.stats.PrefetchFailures, 1)
	}
	d.logger.Warn("download failed", "path", f.path, "prefetch", prefetched, "error", err)
	return d.fail("fetch", f.path, err)
}

// refuse ends a flight that came up after the close.
func (d *downloader) refuse(f *flight) {
	if d.ordering.begin(f.turn) {
		f.end(nil, d.fail("fetch", f.path, objectstore.ErrClosed), func() { d.ordering.finish(f.turn) })
	}
}

// close stops all flights and waits for them.
func (d *downloader) close() {
	d.mu.Lock()
	d.closed = true
	waiting := append(d.urgent, d.later...)
	d.urgent, d.later = nil, nil
	for _, f := range slices.SortedFunc(maps.Keys(d.running), byPath) {
		d.running[f]()
	}
	d.mu.Unlock()
	for _, f := range waiting {
		d.refuse(f)
	}
	d.wg.Wait()
}

func byPath(a, b *flight) int { return strings.Compare(string(a.path), string(b.path)) }

// progress returns the flights that run, in the order of their paths, and how
// many wait for a slot.
func (d *downloader) progress() (running []DownloadProgress, waiting int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for f := range d.running {
		running = append(running, DownloadProgress{
			Path: f.path, Size: f.size.Load(), Done: f.received.Load(), Retries: int(f.retries.Load()),
		})
	}
	slices.SortFunc(running, func(a, b DownloadProgress) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return running, len(d.urgent) + len(d.later)
}

// isChanged reports whether a ranged GET under If-Match says that the object is
// not the one that the download began with.
func isChanged(err error) bool {
	return errors.Is(err, objectstore.ErrPrecondition) || errors.Is(err, objectstore.ErrInvalidRange)
}
