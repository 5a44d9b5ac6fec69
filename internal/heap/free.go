package heap

import (
	"math/bits"

	"github.com/stardustdb/stardust/internal/invariants"
)

// free are the ranges that records may be written to. Ranges that touch are
// one range. It is not safe for concurrent use.
type free struct {
	size  map[int64]int64 // by where a range begins
	begin map[int64]int64 // by where a range ends
	// classes lists where ranges begin by the binary logarithm of their size.
	// Ranges that have gone are skipped when they are met.
	classes [63][]int64
	total   int64
}

func newFree() *free {
	return &free{size: make(map[int64]int64), begin: make(map[int64]int64)}
}

func class(n int64) int { return bits.Len64(uint64(n)) - 1 }

// add makes a range free. It must not overlap one that is.
func (f *free) add(off, n int64) {
	if n <= 0 {
		return
	}
	_, twice := f.size[off]
	invariants.Check(!twice, "the range at %d was freed twice", off)
	if from, ok := f.begin[off]; ok {
		n += f.remove(from)
		off = from
	}
	if _, ok := f.size[off+n]; ok {
		n += f.remove(off + n)
	}
	f.size[off], f.begin[off+n] = n, off
	f.classes[class(n)] = append(f.classes[class(n)], off)
	f.total += n
}

// last takes the range that ends at end, if there is one, and returns where it
// begins.
func (f *free) last(end int64) (int64, bool) {
	from, ok := f.begin[end]
	if ok {
		f.remove(from)
	}
	return from, ok
}

func (f *free) remove(off int64) int64 {
	n := f.size[off]
	delete(f.size, off)
	delete(f.begin, off+n)
	f.total -= n
	return n
}

// take finds a range of n bytes, and reports false when there is none.
func (f *free) take(n int64) (int64, bool) {
	for c := class(n); c < len(f.classes); c++ {
		list := f.classes[c]
		for i := len(list) - 1; i >= 0 && i >= len(list)-8; i-- {
			off := list[i]
			size, ok := f.size[off]
			if !ok || class(size) != c { // gone, or another one now
				list[i] = list[len(list)-1]
				list = list[:len(list)-1]
				continue
			}
			if size < n {
				continue // only in the lowest class
			}
			list[i] = list[len(list)-1]
			f.classes[c] = list[:len(list)-1]
			f.remove(off)
			f.add(off+n, size-n)
			return off, true
		}
		f.classes[c] = list
	}
	return 0, false
}
