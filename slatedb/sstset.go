package slatedb

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// sstRef is an SST in little memory: a policy has one for every SST of every
// active checkpoint, which in a busy database is many times the number of SSTs.
type sstRef struct {
	high, low uint64 // the ULID, in numbers, which compare faster
	owner     int32  // the root of its database, by its number in owners
}

func newSSTRef(owner int32, id ulid.ULID) sstRef {
	return sstRef{binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:]), owner}
}

// id returns the ULID.
func (r sstRef) id() (id ulid.ULID) {
	binary.BigEndian.PutUint64(id[:8], r.high)
	binary.BigEndian.PutUint64(id[8:], r.low)
	return id
}

func compareRefs(a, b sstRef) int {
	switch {
	case a.high != b.high:
		return cmp.Compare(a.high, b.high)
	case a.low != b.low:
		return cmp.Compare(a.low, b.low)
	default:
		return cmp.Compare(a.owner, b.owner)
	}
}

// owners numbers the roots of databases. Numbers are never reused: a database
// is a clone of few others.
type owners struct {
	mu      sync.Mutex
	roots   []objectstore.Path
	numbers map[objectstore.Path]int32
}

// number returns the number of a root, a new one if need be.
func (o *owners) number(root objectstore.Path) int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.numbers[root]
	if !ok {
		if o.numbers == nil {
			o.numbers = make(map[objectstore.Path]int32)
		}
		n = int32(len(o.roots))
		o.roots = append(o.roots, root)
		o.numbers[root] = n
	}
	return n
}

// find returns the number of a root, if it has one.
func (o *owners) find(root objectstore.Path) (int32, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.numbers[root]
	return n, ok
}

// paths returns the paths of the SSTs of the set, with one allocation for each.
func (o *owners) paths(set sstSet) []objectstore.Path {
	o.mu.Lock()
	roots := o.roots // elements once written do not change
	o.mu.Unlock()
	paths := make([]objectstore.Path, len(set))
	var buf []byte
	for i, ref := range set {
		buf = append(buf[:0], inRoot(roots[ref.owner], "")...)
		buf = append(buf, KindCompacted.folder()...)
		buf = append(buf, '/')
		text, id := [ulid.EncodedSize]byte{}, ref.id()
		_ = id.MarshalTextTo(text[:]) // fails only for another size
		buf = append(append(buf, text[:]...), KindCompacted.suffix()...)
		paths[i] = objectstore.Path(buf)
	}
	return paths
}

// sstSet is a set of SSTs, ascending. It is immutable once made.
type sstSet []sstRef

// newSSTSet makes a set of refs, which it keeps.
func newSSTSet(refs []sstRef) sstSet {
	slices.SortFunc(refs, compareRefs)
	return slices.Clip(slices.Compact(refs))
}

func (s sstSet) has(ref sstRef) bool {
	_, ok := slices.BinarySearchFunc(s, ref, compareRefs)
	return ok
}

// minus returns the elements of s that are not in other.
func (s sstSet) minus(other sstSet) sstSet {
	var rest sstSet
	for _, ref := range s {
		for len(other) > 0 && compareRefs(other[0], ref) < 0 {
			other = other[1:]
		}
		if len(other) == 0 || other[0] != ref {
			rest = append(rest, ref)
		}
	}
	return rest
}

// sameAs reports whether both are the very same slice, which is quick to see
// and true for the sets of a checkpoint from one manifest to the next.
func (s sstSet) sameAs(other sstSet) bool {
	return len(s) == len(other) && (len(s) == 0 || &s[0] == &other[0])
}

// retainedSet is the union of the sets of a manifest and of its active
// checkpoints. Building the union for every manifest would cost far more than
// looking into each set.
type retainedSet []sstSet

func (r retainedSet) has(ref sstRef) bool {
	return slices.ContainsFunc(r, func(s sstSet) bool { return s.has(ref) })
}

// without returns the elements of set that are not in r.
func (r retainedSet) without(set sstSet) sstSet {
	for _, s := range r {
		if len(set) == 0 {
			break
		}
		set = set.minus(s)
	}
	return set
}

// minus returns the elements of r that are not in other.
func (r retainedSet) minus(other retainedSet) sstSet {
	var rest []sstRef
	for _, s := range r {
		if !slices.ContainsFunc(other, s.sameAs) {
			rest = append(rest, other.without(s)...)
		}
	}
	return newSSTSet(rest)
}

// size returns the number of elements. It visits them all.
func (r retainedSet) size() int {
	var all []sstRef
	for _, s := range r {
		all = append(all, s...)
	}
	return len(newSSTSet(all))
}
