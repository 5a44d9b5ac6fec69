package mirror

import (
	"sync"

	"github.com/stardustdb/stardust/internal/invariants"
	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// The rules of this file (RFC 0034, Ordering):
//
//   - Operations on one path run one after another, in the order in which
//     they took their turn. Those on different paths don't wait for each
//     other.
//   - A download or write cancels the evictions of its path that haven't
//     begun, whether they wait behind another operation or for a worker.
//   - A download next to another download in the line joins it.
//   - Local reads take no part.

// turnKind is what a turn is for.
type turnKind uint8

const (
	turnDownload turnKind = iota
	turnWrite
	turnEvict
	turnDelete
)

// A turn is an operation's place in the line of its path. When the turn has
// come, start runs once, without locks held; it must not block. It then calls,
// or has another goroutine call, ordering.begin and ordering.finish.
type turn struct {
	path  objectstore.Path
	kind  turnKind
	start func()
	// canceled runs when the turn is taken out of the line before it began,
	// without locks held. May be nil.
	canceled func()
	// flight is what a download's turn is shared for.
	flight *flight
	// merge lets the turn be dropped if the one before it in line, which hasn't
	// begun, does the same.
	merge bool

	state turnState // guarded by ordering.mu
}

type turnState uint8

const (
	turnWaiting turnState = iota
	turnReady             // at the head of the line; start was or is being called
	turnBegun
	turnGone
)

// ordering holds the lines of all paths that have an operation.
type ordering struct {
	mu    sync.Mutex
	lines map[objectstore.Path][]*turn
	// counts of the turns in all lines, by kind
	counts [turnDelete + 1]int
}

func newOrdering() *ordering { return &ordering{lines: map[objectstore.Path][]*turn{}} }

// enqueue puts turns into the lines of their paths, all at one moment, so that
// two callers that take several can't wait for each other.
func (o *ordering) enqueue(turns ...*turn) {
	var after []func()
	o.mu.Lock()
	for _, t := range turns {
		if t.kind == turnWrite {
			after = o.cancelEvictions(t.path, after)
		}
		after = o.append(t, after)
	}
	o.mu.Unlock()
	run(after)
}

// download has flight f join the last turn of the path's line, or puts a turn
// of its own into it. It returns the flight to wait for: f or the one joined,
// or nil when nothing is in line and the current copy satisfies f.
func (o *ordering) download(f *flight, current func(objectstore.Path) *local.Entry, promote func(*flight)) *flight {
	o.mu.Lock()
	after := o.cancelEvictions(f.path, nil)
	line := o.lines[f.path]
	result := f
	switch {
	case len(line) > 0 && line[len(line)-1].kind == turnDownload && line[len(line)-1].flight.join(f, promote):
		result = line[len(line)-1].flight
	case len(line) == 0 && f.satisfied(current(f.path)):
		result = nil
	default:
		after = o.append(f.turn, after)
	}
	o.mu.Unlock()
	run(after)
	return result
}

// settled reports whether nothing is in the line of a path and, at the same
// moment, a condition holds.
func (o *ordering) settled(path objectstore.Path, holds func() bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines[path]) == 0 && holds()
}

// append puts t into its line. o.mu is held.
func (o *ordering) append(t *turn, after []func()) []func() {
	line := o.lines[t.path]
	if n := len(line); t.merge && n > 0 && line[n-1].merge && line[n-1].state != turnBegun {
		return after
	}
	line = append(line, t)
	o.lines[t.path] = line
	o.counts[t.kind]++
	if len(line) == 1 {
		t.state = turnReady
		after = append(after, t.start)
	}
	return after
}

// cancelEvictions takes the evictions of a path that haven't begun out of its
// line. o.mu is held.
func (o *ordering) cancelEvictions(path objectstore.Path, after []func()) []func() {
	line := o.lines[path]
	for i := 0; i < len(line); {
		if t := line[i]; t.kind != turnEvict || t.state == turnBegun {
			i++
			continue
		}
		after = o.take(path, i, after)
		line = o.lines[path]
	}
	return after
}

// take takes the i-th turn, which hasn't begun, out of a path's line and makes
// the next ready where it was the first. o.mu is held.
func (o *ordering) take(path objectstore.Path, i int, after []func()) []func() {
	t := o.lines[path][i]
	if t.canceled != nil {
		after = append(after, t.canceled)
	}
	return o.remove(path, i, after)
}

func (o *ordering) remove(path objectstore.Path, i int, after []func()) []func() {
	line := o.lines[path]
	line[i].state = turnGone
	o.counts[line[i].kind]--
	copy(line[i:], line[i+1:])
	line[len(line)-1] = nil
	line = line[:len(line)-1]
	if len(line) == 0 {
		delete(o.lines, path)
		return after
	}
	o.lines[path] = line
	if i == 0 {
		line[0].state = turnReady
		after = append(after, line[0].start)
	}
	return after
}

// begin marks a turn that has come as begun. It returns false when the turn
// was canceled; then there is nothing to do or finish.
func (o *ordering) begin(t *turn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.state != turnReady {
		return false
	}
	t.state = turnBegun
	return true
}

// cancel takes a turn out of its line. It returns false when the turn had
// begun or is gone already.
func (o *ordering) cancel(t *turn) bool {
	o.mu.Lock()
	if t.state != turnReady && t.state != turnWaiting {
		o.mu.Unlock()
		return false
	}
	var after []func()
	for i, other := range o.lines[t.path] {
		if other == t {
			after = o.take(t.path, i, nil)
			break
		}
	}
	o.mu.Unlock()
	run(after)
	return true
}

// finish ends a turn that had begun; the next in line comes up.
func (o *ordering) finish(t *turn) {
	o.mu.Lock()
	line := o.lines[t.path]
	invariants.Check(len(line) > 0 && line[0] == t && t.state == turnBegun, "a turn on %q ended that did not run", t.path)
	after := o.remove(t.path, 0, nil)
	o.mu.Unlock()
	run(after)
}

// idle reports whether a path has no operation running or waiting.
func (o *ordering) idle(path objectstore.Path) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines[path]) == 0
}

// load returns the number of paths with operations, and of turns by kind.
func (o *ordering) load() (paths int, counts [turnDelete + 1]int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines), o.counts
}

func run(functions []func()) {
	for _, f := range functions {
		f()
	}
}
