package mirror

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// A Handle is what a policy works its Mirror with. It may be copied and used
// concurrently. After Close, its methods do nothing or return
// objectstore.ErrClosed.
type Handle struct {
	m *Mirror
}

// Fetch downloads the paths that aren't local. Its place in line is taken now,
// not when Wait is called (RFC 0034, Ordering). Call Wait or Cancel.
func (h Handle) Fetch(paths ...objectstore.Path) *Fetch { return h.m.fetch(paths) }

// Prefetch downloads the paths that aren't local in the background, best
// effort: a failure is logged and counted only.
func (h Handle) Prefetch(paths ...objectstore.Path) { h.m.prefetch(paths) }

// Evict queues the removal of local copies. It never touches the remote.
func (h Handle) Evict(paths ...objectstore.Path) { h.m.evict(paths) }

// Contains reports whether there is a local copy of path now.
func (h Handle) Contains(path objectstore.Path) bool { return h.m.contains(path) }

// Entries yields the local copies, in no particular order. Those that come or
// go meanwhile may be missing or not.
func (h Handle) Entries() iter.Seq[objectstore.ObjectMeta] { return h.m.entries() }

// Remote returns the wrapped store. Calls made there skip the policy.
func (h Handle) Remote() objectstore.Store { return h.m.remote }

// GetRemote reads a whole object from the remote into memory, and retries
// transient errors. It skips the policy and makes no local copy.
func (h Handle) GetRemote(ctx context.Context, path objectstore.Path) ([]byte, error) {
	return h.m.getRemote(ctx, path)
}

// Stats returns what the mirror has done and is doing.
func (h Handle) Stats() Stats { return h.m.stats() }
