package slatedb

import (
	"math/rand/v2"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// randomSet returns a set of some of the first n SSTs, and the same as a map.
func randomSet(random *rand.Rand, n int) (sstSet, map[sstRef]bool) {
	var refs []sstRef
	model := map[sstRef]bool{}
	for range random.IntN(2 * n) {
		ref := newSSTRef(int32(random.IntN(2)), ulid.ULID{byte(random.IntN(n)), 15: byte(random.IntN(2))})
		refs = append(refs, ref)
		model[ref] = true
	}
	return newSSTSet(refs), model
}

func requireSet(t *testing.T, what string, got sstSet, want map[sstRef]bool) {
	t.Helper()
	for i, ref := range got {
		if i > 0 && compareRefs(got[i-1], ref) >= 0 {
			t.Fatalf("%s is not ascending", what)
		}
		if !want[ref] {
			t.Fatalf("%s has %v", what, ref)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
}

func TestSetsAgreeWithMaps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var all [2]retainedSet
		var union [2]map[sstRef]bool
		for side := range all {
			union[side] = map[sstRef]bool{}
			for range random.IntN(4) {
				set, model := randomSet(random, 6)
				requireSet(t, "set", set, model)
				all[side] = append(all[side], set)
				for ref := range model {
					union[side][ref] = true
				}
			}
		}
		// Two retained sets share the sets of checkpoints.
		if len(all[0]) > 0 && random.IntN(2) == 0 {
			all[1] = append(all[1], all[0][0])
			for _, ref := range all[0][0] {
				union[1][ref] = true
			}
		}
		rest := map[sstRef]bool{}
		for ref := range union[0] {
			if !union[1][ref] {
				rest[ref] = true
			}
			if !all[0].has(ref) || all[1].has(ref) != union[1][ref] {
				t.Fatalf("has(%v) is wrong", ref)
			}
		}
		requireSet(t, "difference", all[0].minus(all[1]), rest)
		if got := all[0].size(); got != len(union[0]) {
			t.Fatalf("size %d, want %d", got, len(union[0]))
		}
		set, model := randomSet(random, 6)
		for ref := range union[1] {
			delete(model, ref)
		}
		requireSet(t, "without", all[1].without(set), model)
	}
}

func TestPathsOfSetsAreThoseOfTheirSSTs(t *testing.T) {
	var o owners
	id := ulid.MustParse("01M8TRA0DD5VQHK85KPG14R4CH")
	for _, root := range []objectstore.Path{"", "db", "a/b", "db"} {
		ref := newSSTRef(o.number(root), id)
		if got := o.paths(sstSet{ref}); ref.id() != id || len(got) != 1 || got[0] != SSTPath(root, id) {
			t.Errorf("%q has %q", root, got)
		}
	}
	if len(o.roots) != 3 {
		t.Errorf("%d owners, want 3", len(o.roots))
	}
}
