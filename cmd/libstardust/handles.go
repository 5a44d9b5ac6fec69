//go:build cgo

package main

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust"
)

// kind is what a handle stands for. It is in the lowest bits of the number.
type kind uint64

const (
	kindDB kind = iota + 1
	kindDocument
	kindStream
	kindSnapshot
	kindHold
	kindCancel
	kindResult
)

// kindBits is how many bits of a handle its kind takes.
const kindBits = 3

func (k kind) String() string {
	return [1 << kindBits]string{"nothing", "a database", "a document", "a stream", "a snapshot", "a hold", "a cancel handle", "a result"}[k&(1<<kindBits-1)]
}

// object is what a handle may stand for. Its kind doesn't depend on its value.
// It has its place in the table with it, which saves an allocation a handle.
type object interface {
	kind() kind
	place() *entry
}

// handles maps numbers to objects, and looks one up without a lock. A number is
// a generation, the index of a slot and a kind. A slot's generations only grow,
// and one that has used them up is left unused, so no number is given twice: one
// that ended can't come to mean something else. Generations begin at random, so
// that small numbers and those of another process mean nothing. Numbers stay
// below 1<<53, so that languages whose numbers are floats hold them exactly.
type handles struct {
	first uint64 // the generation before the first one
	// segments hold the slots; segment i has firstSlots<<i of them, when there
	// are so many.
	segments [indexBits]atomic.Pointer[[]slot]

	mu   sync.Mutex
	free []uint64 // indexes of slots without an object
	made uint64   // how many slots there are
}

const (
	indexBits      = 28
	generationBits = 53 - indexBits - kindBits
	generationMask = 1<<generationBits - 1
	firstSlots     = 64
)

// slot has an entry while its handle is live. The last generation that it gave
// stays.
type slot struct {
	entry      atomic.Pointer[entry]
	generation atomic.Uint64
}

// entry is an object's place in the table. Objects embed it.
type entry struct {
	handle uint64
	object object
}

func (e *entry) place() *entry { return e }

func newHandles() *handles {
	return &handles{first: 1<<8 + rand.Uint64N(generationMask/4)}
}

func indexOf(handle uint64) uint64 { return handle >> kindBits & (1<<indexBits - 1) }

// slot returns the slot of an index, or nil when there is none yet.
func (h *handles) slot(index uint64) *slot {
	i := bits.Len64(index/firstSlots+1) - 1
	segment := h.segments[i].Load()
	if segment == nil {
		return nil
	}
	return &(*segment)[index-firstSlots*(1<<i-1)]
}

// put gives an object its handle, once. It returns 0 when 1<<indexBits are
// live.
func (h *handles) put(o object) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	index, ok := h.freeSlot()
	if !ok {
		return 0
	}
	s := h.slot(index)
	generation := s.generation.Add(1)
	handle := generation<<(indexBits+kindBits) | index<<kindBits | uint64(o.kind())
	e := o.place()
	e.handle, e.object = handle, o
	s.entry.Store(e)
	return handle
}

// freeSlot returns the index of a slot without an object. The caller holds mu.
func (h *handles) freeSlot() (uint64, bool) {
	if n := len(h.free); n > 0 {
		index := h.free[n-1]
		h.free = h.free[:n-1]
		return index, true
	}
	index := h.made
	if index == 1<<indexBits {
		return 0, false
	}
	h.made++
	s := h.slot(index)
	if s == nil {
		i := bits.Len64(index/firstSlots+1) - 1
		segment := make([]slot, firstSlots<<i)
		h.segments[i].Store(&segment)
		s = h.slot(index)
	}
	s.generation.Store(h.first)
	return index, true
}

// live returns how many handles there are.
func (h *handles) live() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for index := range h.made {
		if h.slot(index).entry.Load() != nil {
			n++
		}
	}
	return n
}

// get returns the object of type T that a handle stands for.
func get[T object](h *handles, handle uint64) (T, error) {
	if s := h.slot(indexOf(handle)); s != nil {
		if e := s.entry.Load(); e != nil && e.handle == handle {
			if o, ok := e.object.(T); ok {
				return o, nil
			}
		}
	}
	var none T
	return none, h.refuse(handle, none.kind())
}

// end removes the object of type T from the table and returns it. Of calls that
// end one handle at the same time one succeeds.
func end[T object](h *handles, handle uint64) (T, error) {
	if s := h.slot(indexOf(handle)); s != nil {
		if e := s.entry.Load(); e != nil && e.handle == handle {
			if o, ok := e.object.(T); ok && s.entry.CompareAndSwap(e, nil) {
				h.release(handle)
				return o, nil
			}
		}
	}
	var none T
	return none, h.refuse(handle, none.kind())
}

// release makes the slot of a handle that ended free for others, if it has a
// generation left.
func (h *handles) release(handle uint64) {
	if handle>>(indexBits+kindBits) == generationMask {
		return
	}
	h.mu.Lock()
	h.free = append(h.free, indexOf(handle))
	h.mu.Unlock()
}

// refuse says what is wrong with a handle that is not a live one of a kind.
func (h *handles) refuse(handle uint64, want kind) error {
	got := kind(handle & (1<<kindBits - 1))
	switch {
	case handle == 0:
		return refused(stardust.StatusInvalidArgument, "the handle of "+want.String()+" is 0, which is none")
	case got == 0 || !h.gave(handle):
		return refused(stardust.StatusInvalidArgument, "the handle of "+want.String()+" is a number that the library never gave")
	case got != want:
		return refused(stardust.StatusInvalidArgument, "the handle is of "+got.String()+", where "+want.String()+" is needed")
	}
	return refused(stardust.StatusClosed, want.String()+" was closed or released before")
}

// gave says that a handle may have been given.
func (h *handles) gave(handle uint64) bool {
	s := h.slot(indexOf(handle))
	generation := handle >> (indexBits + kindBits)
	return s != nil && generation > h.first && generation <= s.generation.Load()
}

func refused(status stardust.Status, message string) error {
	return &stardust.Error{Status: status, Message: message}
}
