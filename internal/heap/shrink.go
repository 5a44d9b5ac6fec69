package heap

import (
	"cmp"
	"slices"

	"github.com/stardustdb/stardust/internal/container"
)

// Reuse frees the records that were retired.
func (h *Heap) Reuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, loc := range h.retired {
		h.release(loc)
	}
	h.retired = nil
}

// Release makes ranges of the file free that were something else.
func (h *Heap) Release(ranges ...container.Extent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range ranges {
		h.free.add(e.Offset, e.Size)
	}
}

// TakeLowest takes n bytes of free space, at a multiple of unit, as near to the
// file's beginning as there are, between two offsets. It reports false when there
// are none.
func (h *Heap) TakeLowest(n, unit, from, until int64) (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	best, found := int64(0), false
	var in int64 // where the range begins that has the best place
	for off, size := range h.free.size {
		at := (max(off, from) + unit - 1) / unit * unit
		if at+n <= off+size && at+n <= until && (!found || at < best) {
			best, in, found = at, off, true
		}
	}
	if found {
		size := h.free.remove(in)
		h.free.add(in, best-in)
		h.free.add(best+n, in+size-best-n)
	}
	return best, found
}

// CutEnd gives the free space at the file's end back to the disk. It may be called at
// any time.
func (h *Heap) CutEnd() error { return h.giveBack(true) }

// Shrink is CutEnd as far as other processes were not promised that the space is
// there: that syncs nothing.
func (h *Heap) Shrink() error { return h.giveBack(false) }

func (h *Heap) giveBack(all bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	end := h.file.Tail()
	from, ok := h.free.last(end)
	if !ok {
		return nil
	}
	cut, err := h.file.GiveBack(from, end, all)
	h.free.add(from, cut-from)
	return err
}

// Holes returns the free ranges that there are, the last one first.
func (h *Heap) Holes() []container.Extent {
	h.mu.Lock()
	defer h.mu.Unlock()
	holes := make([]container.Extent, 0, len(h.free.size))
	for off, size := range h.free.size {
		holes = append(holes, container.Extent{Offset: off, Size: size})
	}
	slices.SortFunc(holes, func(a, b container.Extent) int { return cmp.Compare(b.Offset, a.Offset) })
	return holes
}

// Punch gives what is still free of a range back to the file system, but keeps it
// for new records. It reports false where that cannot be done.
func (h *Heap) Punch(hole container.Extent) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free.size[hole.Offset] != hole.Size {
		return true, nil // something is in it by now
	}
	return h.file.Punch(hole.Offset, hole.Size)
}
