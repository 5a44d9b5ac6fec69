package mirror

import (
	"sync"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// evictor removes local copies in the background, one at a time, when the turn
// of each has come.
type evictor struct {
	local    *local.Dir
	ordering *ordering
	stats    *counters

	wg     sync.WaitGroup
	mu     sync.Mutex
	queue  []*eviction
	busy   bool
	closed bool
}

// eviction is the removal of one local copy.
type eviction struct {
	turn *turn
	// guarded removes the copy only if it is still the entry only, about which the
	// decision was made; nil: a file without an entry.
	guarded bool
	only    *local.Entry
	// binding evictions follow a write. No later operation cancels them, they
	// happen at the close, too, and they leave a copy of the ETag keep.
	binding bool
	keep    string
	// done is told whether a copy was removed, and why it could not be; may be
	// nil.
	done func(removed bool, err error)
}

// evict queues the removal of the local copy of path.
func (v *evictor) evict(path objectstore.Path) {
	if !v.local.Contains(path) && v.ordering.idle(path) {
		return
	}
	v.enqueue(path, &eviction{})
}

// enqueue takes the eviction's turn.
func (v *evictor) enqueue(path objectstore.Path, e *eviction) {
	kind := turnEvict
	if e.binding {
		kind = turnDelete
	}
	e.turn = &turn{
		path: path, kind: kind, merge: !e.guarded && e.done == nil,
		start: func() {
			if e.binding {
				// Reads must not find a copy that an earlier download brought.
				v.forget(path, e.keep)
			}
			v.push(e)
		},
		canceled: func() {
			bump(&v.stats.EvictionsCanceled, 1)
			e.tell(false, nil)
		},
	}
	v.ordering.enqueue(e.turn)
}

func (v *evictor) push(e *eviction) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		v.run(e, true)
		return
	}
	defer v.mu.Unlock()
	v.queue = append(v.queue, e)
	if !v.busy {
		v.busy = true
		v.wg.Go(v.work)
	}
}

func (v *evictor) work() {
	for {
		v.mu.Lock()
		if len(v.queue) == 0 {
			v.queue, v.busy = nil, false
			v.mu.Unlock()
			return
		}
		e := v.queue[0]
		v.queue[0] = nil
		v.queue = v.queue[1:]
		closed := v.closed
		v.mu.Unlock()
		v.run(e, closed)
	}
}

// run ends an eviction's turn, unless it was canceled, and before the close
// also evicts.
func (v *evictor) run(e *eviction, closed bool) {
	if v.ordering.begin(e.turn) {
		var removed bool
		var err error
		if !closed || e.binding {
			removed, err = v.remove(e)
		}
		v.ordering.finish(e.turn)
		e.tell(removed, err)
	}
}

// forget drops from the map a copy with an ETag other than keep.
func (v *evictor) forget(path objectstore.Path, keep string) {
	if current := v.local.Index.Get(path); current != nil && !current.IsOf(keep) {
		v.local.Forget(path, current)
	}
}

func (v *evictor) remove(e *eviction) (bool, error) {
	path := e.turn.path
	if e.guarded && v.local.Index.Get(path) != e.only {
		return false, nil
	}
	if current := v.local.Index.Get(path); e.binding && current != nil && current.IsOf(e.keep) {
		return false, nil
	}
	had, err := v.local.Remove(path)
	if had && !e.binding {
		bump(&v.stats.Evictions, 1)
	}
	return (had || e.guarded) && err == nil, err
}

func (e *eviction) tell(removed bool, err error) {
	if e.done != nil {
		e.done(removed, err)
	}
}

// close drops the evictions that wait, binding ones aside, and waits for those
// that run.
func (v *evictor) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.wg.Wait()
}
