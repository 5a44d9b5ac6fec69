package slatedb

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/objectstore"
)

// ErrOtherRoot says that a manifest or compactions object lies under another root
// than the database that the policy mirrors.
var ErrOtherRoot = errors.New("a mirror serves one SlateDB database, and this object is another's")

// policyState is what a policy knows. Routes read the current view without a
// lock; changes are made under mu, which is never held across a remote call or
// a call of the predicate.
type policyState struct {
	owners  owners
	current atomic.Pointer[policyView]
	// rooted is closed when the root becomes known.
	rooted chan struct{}

	mu sync.Mutex
	// checkpoints has the footprints of the manifests of the newest manifest's
	// active checkpoints, by ID. Manifests are immutable, so none goes stale.
	checkpoints map[uint64]*footprint
}

// policyView is one state of a policy. It is immutable.
type policyView struct {
	root      objectstore.Path
	rootKnown bool
	// newest is the newest manifest processed, nil before the first.
	newest *Manifest
	// retained must not be evicted: the selected SSTs of the newest manifest
	// and of its active checkpoints.
	retained retainedSet
}

func (s *policyState) init(root *objectstore.Path) {
	s.rooted = make(chan struct{})
	s.checkpoints = make(map[uint64]*footprint)
	s.current.Store(&policyView{})
	if root != nil {
		s.current.Store(&policyView{root: *root, rootKnown: true})
		close(s.rooted)
	}
}

func (s *policyState) view() *policyView { return s.current.Load() }

// checkRoot returns ErrOtherRoot for a metadata object under another root than
// the known one. If its name tells no root, it must lie below the known one.
func (s *policyState) checkRoot(path objectstore.Path) error {
	v := s.view()
	name, ok := metadataName(path)
	if !v.rootKnown || ok && v.root == name.Root || !ok && (v.root == "" || strings.HasPrefix(string(path), string(v.root)+"/")) {
		return nil
	}
	return fmt.Errorf("%w: %q is not of the database under %q", ErrOtherRoot, string(path), string(v.root))
}

// recordRoot makes the root of a metadata object the database's, unless one is
// known already or the name tells none.
func (s *policyState) recordRoot(path objectstore.Path) error {
	if name, ok := metadataName(path); ok && !s.view().rootKnown {
		root := name.Root
		s.mu.Lock()
		if v := s.view(); !v.rootKnown {
			next := *v
			next.root, next.rootKnown = root, true
			s.current.Store(&next)
			close(s.rooted)
		}
		s.mu.Unlock()
	}
	return s.checkRoot(path)
}

// newer reports whether a manifest is newer than all processed.
func (v *policyView) newer(id uint64) bool { return v.newest == nil || id > v.newest.ID }

// beginManifest reports whether a manifest is newer than all processed, and
// returns those of the wanted checkpoint footprints that are cached. The caller
// keeps them, whatever happens to the cache meanwhile.
func (s *policyState) beginManifest(id uint64, wanted []uint64) (newer bool, cached map[uint64]*footprint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.view().newer(id) {
		return false, nil
	}
	cached = make(map[uint64]*footprint, len(wanted))
	for _, checkpoint := range wanted {
		if f := s.checkpoints[checkpoint]; f != nil {
			cached[checkpoint] = f
		}
	}
	return true, cached
}

// advance makes m the newest manifest, with what it retains, unless a newer one
// has been processed meanwhile. It calls evict with the SSTs that are no longer
// retained, under the lock, so that evictions reach the mirror in the order of
// their manifests. It returns false, and what is retained, when m is not newer.
func (s *policyState) advance(m *Manifest, retained retainedSet, checkpoints map[uint64]*footprint, evict func(sstSet)) (bool, retainedSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view()
	if !v.newer(m.ID) {
		return false, v.retained
	}
	if gone := v.retained.minus(retained); len(gone) > 0 {
		evict(gone)
	}
	next := *v
	next.newest, next.retained = m, retained
	s.current.Store(&next)
	s.checkpoints = checkpoints // drops those that are no longer active
	return true, retained
}

// retained returns what must not be evicted, after all evictions issued so far.
func (s *policyState) retained() retainedSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view().retained
}

func (s *policyState) checkpointCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.checkpoints)
}
