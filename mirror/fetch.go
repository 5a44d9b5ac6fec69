package mirror

import (
	"context"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// A Fetch is a request to have objects local. Its place in every path's line
// was taken when it was made, and its downloads run whether or not someone
// waits. Its methods may be called concurrently.
type Fetch struct {
	m    *Mirror
	done chan struct{} // closed when err is final

	mu      sync.Mutex
	flights []*flight // those not landed yet, and others
	left    int       // flights not landed
	waiters int
	over    bool
	err     error
}

// fetch implements Handle.Fetch.
func (m *Mirror) fetch(paths []objectstore.Path) *Fetch {
	f := &Fetch{m: m, done: make(chan struct{}), left: 1}
	if m.closed.Load() {
		f.finish(m.fail("fetch", "", objectstore.ErrClosed))
		return f
	}
	for _, path := range paths {
		// Counted first: the flight may land before launch returns.
		f.mu.Lock()
		f.left++
		f.mu.Unlock()
		flight := m.downloads.launch(path, demand{watcher: f})
		f.mu.Lock()
		switch {
		case flight == nil:
			f.left--
		default:
			f.flights = append(f.flights, flight)
		}
		f.mu.Unlock()
	}
	f.landed(nil)
	return f
}

// Wait returns nil when every path is local, or the error of the first
// download that failed; the others go on. When ctx ends first it returns ctx's
// error, and if no other Wait is in progress, the Fetch is canceled.
//
// The error is an *objectstore.Error that names the path, with the remote's
// error in it, such as objectstore.ErrNotFound, or [Local].
func (f *Fetch) Wait(ctx context.Context) error {
	f.mu.Lock()
	f.waiters++
	f.mu.Unlock()
	ended, err := f.wait(ctx)
	f.mu.Lock()
	f.waiters--
	last := f.waiters == 0
	f.mu.Unlock()
	if ended && last {
		f.Cancel()
	}
	return err
}

func (f *Fetch) wait(ctx context.Context) (ended bool, err error) {
	select {
	case <-f.done:
		return false, f.err
	default:
	}
	select {
	case <-f.done:
		return false, f.err
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// Cancel gives the Fetch up: its places in line go, and downloads in which
// nobody else is interested stop. Wait then returns context.Canceled. After
// the Fetch's end it does nothing.
func (f *Fetch) Cancel() {
	if !f.finish(context.Canceled) {
		return
	}
	f.mu.Lock()
	flights := f.flights
	f.flights = nil
	f.mu.Unlock()
	for _, flight := range flights {
		flight.leave(f, f.m.ordering.cancel)
	}
}

// landed is told that a flight has ended.
func (f *Fetch) landed(err error) {
	f.mu.Lock()
	f.left--
	left := f.left
	f.mu.Unlock()
	if err != nil || left == 0 {
		f.finish(err)
	}
}

// finish makes the outcome final; it returns false when it was already.
func (f *Fetch) finish(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return false
	}
	f.over = true
	f.err = err
	close(f.done)
	return true
}

// prefetch implements Handle.Prefetch.
func (m *Mirror) prefetch(paths []objectstore.Path) {
	if m.closed.Load() {
		return
	}
	for _, path := range paths {
		m.downloads.launch(path, demand{background: true})
	}
}
