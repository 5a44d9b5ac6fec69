package mirror

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// A flight is one download of a path, shared by all who asked for it while it
// was their neighbor in line. It goes on as long as one of them is
// interested.
//
// Its mutex may be locked with ordering.mu held, never the other way round.
type flight struct {
	path objectstore.Path
	turn *turn
	done chan struct{} // closed when entry and err are final

	entry *local.Entry // the local copy, when err is nil
	err   error

	mu         sync.Mutex
	state      flightState
	force      bool         // download even if there is a local copy
	stale      *local.Entry // download even if this is the local copy
	background bool         // nobody waits: others go first
	prefetched bool         // somebody prefetches: a failure is to be counted
	queued     bool         // with the downloader
	joined     bool         // by somebody since the remote was asked
	interest   int
	watchers   []*Fetch
	cancel     context.CancelFunc // while running

	size, received, retries atomic.Int64
}

type flightState uint8

const (
	flightWaiting flightState = iota
	flightRunning             // the remote is being asked
	flightLeft                // nobody is interested any more
	flightEnded
)

// join adds other, which isn't in line yet, to the flight. It returns false
// when it can't: the flight is over, left, or will not download what a forced
// one must.
func (f *flight) join(other *flight, promote func(*flight)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != flightWaiting && f.state != flightRunning {
		return false
	}
	// A running flight may have asked the remote before the newcomer's call.
	// Objects are written once, so its bytes are as good; but an answer that there
	// is no object is not: see askAgain.
	f.joined = f.joined || f.state == flightRunning
	f.force = f.force || other.force || f.stale != nil && other.stale != nil && f.stale != other.stale
	if f.stale == nil {
		f.stale = other.stale
	}
	f.interest += other.interest
	f.prefetched = f.prefetched || other.prefetched
	f.watchers = append(f.watchers, other.watchers...)
	if f.background && !other.background {
		f.background = false
		if f.queued && f.state == flightWaiting {
			promote(f)
		}
	}
	return true
}

// satisfied reports whether a local copy, nil if there is none, makes the
// download needless. f.mu is held, or f is not in line yet.
func (f *flight) satisfied(current *local.Entry) bool {
	return current != nil && !f.force && current != f.stale
}

// begin starts the download; cancel is called when nobody is interested in it
// any more. It returns false, with the flight's end decided, when there is
// nothing to download: current is a local copy that will do, or all have left.
func (f *flight) begin(cancel context.CancelFunc, current *local.Entry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.state == flightLeft:
		f.err = context.Canceled
		return false
	case f.satisfied(current):
		f.entry = current
		f.state = flightEnded
		return false
	}
	f.state, f.cancel = flightRunning, cancel
	return true
}

// askAgain is called when the remote has said that there is no object. It
// reports whether somebody has joined since the question: the object may have
// been written in between. If not, nobody can join any more.
func (f *flight) askAgain() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	again := f.joined
	f.joined = false
	if !again && f.state == flightRunning {
		f.state = flightEnded
	}
	return again
}

// leave ends one caller's interest. cancelTurn takes the flight's turn out of
// the line.
func (f *flight) leave(watcher *Fetch, cancelTurn func(*turn) bool) {
	f.mu.Lock()
	for i, w := range f.watchers {
		if w == watcher {
			f.watchers = append(f.watchers[:i], f.watchers[i+1:]...)
			break
		}
	}
	f.interest--
	if f.interest > 0 || f.state == flightEnded || f.state == flightLeft {
		f.mu.Unlock()
		return
	}
	f.state = flightLeft
	cancel := f.cancel
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	} else {
		cancelTurn(f.turn)
	}
}

// end makes the flight's outcome known. release ends its turn; it runs when
// nobody can join any more, and before those who wait are told.
func (f *flight) end(e *local.Entry, err error, release func()) {
	f.mu.Lock()
	f.state = flightEnded
	f.entry, f.err = e, err
	watchers := f.watchers
	f.watchers = nil
	f.mu.Unlock()
	release()
	close(f.done)
	for _, w := range watchers {
		w.landed(err)
	}
}
