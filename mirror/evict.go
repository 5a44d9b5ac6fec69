package mirror

import (
	"context"
	"errors"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// Evict removes the local copies of the paths, each in its turn, and returns how
// many there were when all are gone. It never touches the remote. A copy whose
// eviction a later operation cancels stays and doesn't count. The error is
// ctx's when that ends first; the evictions happen all the same. It is a [Local]
// when files could not be removed: their copies are not served, and the removal
// is tried again.
func (m *Mirror) Evict(ctx context.Context, paths ...objectstore.Path) (removed int, err error) {
	if m.closed.Load() {
		return 0, m.fail("evict", "", objectstore.ErrClosed)
	}
	type outcome struct {
		did bool
		err error
	}
	outcomes := make(chan outcome, len(paths))
	for _, path := range paths {
		m.evictions.enqueue(path, &eviction{done: func(did bool, err error) { outcomes <- outcome{did, err} }})
	}
	var failed error
	for range paths {
		select {
		case o := <-outcomes:
			if o.did {
				removed++
			}
			if o.err != nil {
				failed = errors.Join(failed, m.fail("evict", "", o.err))
			}
		case <-ctx.Done():
			return removed, m.fail("evict", "", ctx.Err())
		}
	}
	return removed, failed
}

// evict implements Handle.Evict.
func (m *Mirror) evict(paths []objectstore.Path) {
	if m.closed.Load() {
		return
	}
	for _, path := range paths {
		m.evictions.evict(path)
	}
}

// sweep tries again to remove the files that could not be removed, unless their
// paths have local copies again. It waits for the attempts.
func (m *Mirror) sweep() {
	var wg sync.WaitGroup
	for _, path := range m.local.Leftovers.All() {
		wg.Add(1)
		m.evictions.enqueue(path, &eviction{guarded: true, done: func(bool, error) { wg.Done() }})
	}
	wg.Wait()
}
