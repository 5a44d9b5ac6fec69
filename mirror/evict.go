package mirror

import (
	"context"

	"github.com/stardustdb/stardust/objectstore"
)

// Evict removes the local copies of the paths, each in its turn, and returns how
// many there were when all are gone. It never touches the remote. A copy whose
// eviction a later operation cancels stays and doesn't count. The error is
// ctx's when that ends first; the evictions happen all the same.
func (m *Mirror) Evict(ctx context.Context, paths ...objectstore.Path) (removed int, err error) {
	if m.closed.Load() {
		return 0, m.fail("evict", "", objectstore.ErrClosed)
	}
	outcomes := make(chan bool, len(paths))
	for _, path := range paths {
		m.evictions.enqueue(path, &eviction{done: func(did bool) { outcomes <- did }})
	}
	for range paths {
		select {
		case did := <-outcomes:
			if did {
				removed++
			}
		case <-ctx.Done():
			return removed, m.fail("evict", "", ctx.Err())
		}
	}
	return removed, nil
}
