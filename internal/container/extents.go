package container

import (
	"cmp"
	"fmt"
	"slices"
)

// Extent is a range of the file, in bytes.
type Extent struct{ Offset, Size int64 }

// End returns the offset of the first byte after the extent.
func (e Extent) End() int64 { return e.Offset + e.Size }

// extents are the ranges that hold SQLite's main database, in its order. The
// list only grows, and a list that others read is never changed.
type extents []Extent

// capacity returns how many bytes of SQLite's database there is room for.
func (x extents) capacity() (n int64) {
	for _, e := range x {
		n += e.Size
	}
	return n
}

// locate returns where in the file a page of SQLite's database lies, given its
// offset there. It reports false when the offset lies beyond the extents.
func (x extents) locate(off int64) (int64, bool) {
	if off < 0 {
		return 0, false
	}
	for _, e := range x {
		if off < e.Size {
			return e.Offset + off, true
		}
		off -= e.Size
	}
	return 0, false
}

// with returns a list that has e at its end, joined to the last when they touch.
func (x extents) with(e Extent) extents {
	longer := slices.Clone(x)
	if last := len(longer) - 1; last >= 0 && longer[last].End() == e.Offset {
		longer[last].Size += e.Size
		return longer
	}
	return append(longer, e)
}

// check says whether the list can be true for a file with the given tail.
func (x extents) check(tail int64) error {
	if tail < headSize {
		return fmt.Errorf("the tail %d lies within the head", tail)
	}
	sorted := slices.SortedFunc(slices.Values(x), func(a, b Extent) int {
		return cmp.Compare(a.Offset, b.Offset)
	})
	free := int64(headSize)
	for _, e := range sorted {
		switch {
		case e.Offset%PageSize != 0 || e.Size%PageSize != 0 || e.Size <= 0:
			return fmt.Errorf("the extent %d+%d is not made of pages", e.Offset, e.Size)
		case e.Offset < free:
			return fmt.Errorf("the extent %d+%d overlaps what lies before it", e.Offset, e.Size)
		case e.Size > tail || e.Offset > tail-e.Size:
			return fmt.Errorf("the extent %d+%d lies beyond the tail %d", e.Offset, e.Size, tail)
		}
		free = e.End()
	}
	return nil
}

// growth returns how large an extent to add so that need bytes fit.
func (x extents) growth(need int64) int64 {
	have := x.capacity()
	return align(max(minExtent, have/growthPart, need-have), PageSize)
}
