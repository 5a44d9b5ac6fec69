//go:build cgo

package main

import "testing"

// thing is an object of tests.
type thing struct{ entry }

func (*thing) kind() kind { return kindHold }

// A handle that ended means nothing again, however often its slot is used, and
// all fit into the numbers of languages that count in floats.
func TestNoHandleIsGivenTwice(t *testing.T) {
	h := newHandles()
	seen := make(map[uint64]bool)
	keep := h.put(&thing{})
	for range 100000 {
		handle := h.put(&thing{})
		if seen[handle] || handle == keep || handle >= 1<<53 {
			t.Fatalf("handle %#x: given before, or too large", handle)
		}
		seen[handle] = true
		if _, err := end[*thing](h, handle); err != nil {
			t.Fatal(err)
		}
		if _, err := get[*thing](h, handle); err == nil {
			t.Fatalf("handle %#x is live after its end", handle)
		}
	}
	if h.made > 2 || h.live() != 1 {
		t.Errorf("%d slots for 2 live handles, %d live", h.made, h.live())
	}
}

// A slot whose generations are used up is left alone.
func TestGenerationsDoNotWrap(t *testing.T) {
	h := newHandles()
	first := h.put(&thing{})
	h.slot(indexOf(first)).generation.Store(generationMask - 1)
	if _, err := end[*thing](h, first); err != nil {
		t.Fatal(err)
	}
	last := h.put(&thing{}) // the slot's last generation
	if indexOf(last) != indexOf(first) || last <= first {
		t.Fatalf("%#x after %#x", last, first)
	}
	if _, err := end[*thing](h, last); err != nil {
		t.Fatal(err)
	}
	next := h.put(&thing{})
	if indexOf(next) == indexOf(first) {
		t.Fatalf("%#x: the slot is used again", next)
	}
	if _, err := get[*thing](h, first); err == nil {
		t.Error("the first handle came back to life")
	}
}

// Every segment of slots begins where the one before ends.
func TestHandlesAcrossSegments(t *testing.T) {
	h := newHandles()
	var handles []uint64
	for i := range 5 * firstSlots {
		handles = append(handles, h.put(&thing{}))
		if got := indexOf(handles[i]); got != uint64(i) {
			t.Fatalf("handle %d has index %d", i, got)
		}
	}
	for _, handle := range handles {
		if _, err := end[*thing](h, handle); err != nil {
			t.Fatal(err)
		}
	}
	for _, odd := range []uint64{0, 1, 7, ^uint64(0), 1 << 63, handles[0] ^ 7, handles[0] + 1<<40} {
		if _, err := get[*thing](h, odd); err == nil {
			t.Errorf("handle %#x means something", odd)
		}
	}
}
