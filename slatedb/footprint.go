package slatedb

import (
	"slices"
	"sync/atomic"

	"github.com/stardustdb/stardust/objectstore"
)

// footprint is what a policy remembers of a manifest: its SSTs, by segment. It
// is immutable except for the cache of the last selection.
type footprint struct {
	trees []treeFootprint
	last  atomic.Pointer[selection]
}

// treeFootprint is the SSTs of one tree.
type treeFootprint struct {
	segment []byte // its prefix; empty for the root tree
	ssts    sstSet
}

// selection is the SSTs of some of a footprint's trees.
type selection struct {
	mask []bool // which trees
	ssts sstSet
}

// newFootprint takes the footprint of a manifest of the database at root.
func newFootprint(m *Manifest, root objectstore.Path, owners *owners) *footprint {
	resolver := m.Resolver(root)
	home := owners.number(root)
	f := &footprint{}
	for prefix, tree := range m.Trees() {
		refs := make([]sstRef, 0, tree.size())
		for view := range tree.SSTViews() {
			ref := newSSTRef(home, view.SST.ID)
			if owner, external := resolver.external[view.SST.ID]; external {
				ref.owner = owners.number(owner)
			}
			refs = append(refs, ref)
		}
		f.trees = append(f.trees, treeFootprint{slices.Clone(prefix), newSSTSet(refs)})
	}
	return f
}

// selected returns the SSTs of the segments that the predicate selects.
func (f *footprint) selected(selects func(segment []byte) bool) sstSet {
	mask := make([]bool, len(f.trees))
	for i := range f.trees {
		mask[i] = selects(f.trees[i].segment)
	}
	if last := f.last.Load(); last != nil && slices.Equal(last.mask, mask) {
		return last.ssts
	}
	set := f.union(mask)
	f.last.Store(&selection{mask, set})
	return set
}

// union returns the SSTs of the trees in the mask.
func (f *footprint) union(mask []bool) sstSet {
	var sets []sstSet
	for i := range f.trees {
		if mask[i] && len(f.trees[i].ssts) > 0 {
			sets = append(sets, f.trees[i].ssts)
		}
	}
	if len(sets) == 1 {
		return sets[0]
	}
	return newSSTSet(slices.Concat(sets...))
}

// all returns the SSTs of every segment.
func (f *footprint) all() sstSet { return f.selected(func([]byte) bool { return true }) }
