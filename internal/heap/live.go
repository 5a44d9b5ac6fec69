package heap

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// span is a range of the file that is in use.
type span struct{ begin, end int64 }

// SetLive tells the heap, before anything is appended, of every record that the
// catalog names, in any order. What lies between them is free for new records,
// and what follows them, records of uploads that were never published, is cut
// off. It takes 16 bytes of memory for each.
//
// The error wraps ErrCorrupt when records overlap each other or what else is in
// the file, and the file's own error when it ends before they do. Nothing is
// changed then.
func (h *Heap) SetLive(live iter.Seq[Location]) error {
	used, err := h.usedSpans(live)
	if err != nil {
		return err
	}
	gaps := newFree()
	end := int64(0)
	for _, s := range used {
		if s.begin < end {
			return fmt.Errorf("%w: two ranges of the file, the later one at offset %d, overlap", ErrCorrupt, s.begin)
		}
		begin := (end + unit - 1) / unit * unit
		gaps.add(begin, s.begin/unit*unit-begin)
		end = s.end
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.file.SetTail(end); err != nil {
		return err
	}
	h.free = gaps
	clear(h.fresh) // whatever was appended and is not named is gone
	clear(h.suspect)
	return nil
}

// SetLiveLater is for a file at rest, with nothing after its last record: live,
// which calls SetLive, is called before the first Append, so that programs that
// only read or rename do not pay for it. While it fails, nothing can be
// appended.
func (h *Heap) SetLiveLater(live func() error) {
	h.live = live
	h.ignorant.Store(true)
}

// Learn asks for the live records, if SetLiveLater put that off.
func (h *Heap) Learn() error {
	if !h.ignorant.Load() {
		return nil
	}
	h.learning.Lock()
	defer h.learning.Unlock()
	if !h.ignorant.Load() {
		return nil
	}
	if err := h.live(); err != nil {
		return err
	}
	h.ignorant.Store(false)
	return nil
}

// Retire notes records that no catalog names any more. Their bytes stay in
// place, since other readers of the file may still use them. They are free when
// the file is next opened, or after Reuse.
func (h *Heap) Retire(gone []Location) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retired = append(h.retired, gone...)
}

// usedSpans returns all ranges in use, in order, and checks that the file
// reaches as far as the records do.
func (h *Heap) usedSpans(live iter.Seq[Location]) ([]span, error) {
	var used []span
	last := int64(0)
	for _, e := range h.file.Reserved() {
		used = append(used, span{e.Offset, e.End()})
	}
	for loc := range live {
		if !loc.valid() {
			return nil, at(loc, fmt.Errorf("%w: no record can be there", ErrCorrupt))
		}
		last = max(last, loc.End())
		used = append(used, span{loc.Offset, loc.Offset + loc.span()})
	}
	if err := h.file.CheckEnd(last); err != nil {
		return nil, err
	}
	slices.SortFunc(used, func(a, b span) int { return cmp.Compare(a.begin, b.begin) })
	return used, nil
}
