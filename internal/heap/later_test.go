package heap_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/stardustdb/stardust/internal/heap"
)

// TestLiveRecordsAreAskedForBeforeTheFirstAppend: who reads only does not pay for
// the list, and nothing is written over a record while it is not known.
func TestLiveRecordsAreAskedForBeforeTheFirstAppend(t *testing.T) {
	c := file(t, nil)
	first := heap.New(c)
	a, b, last := appendTo(t, first, random(1, 10_000)), appendTo(t, first, random(2, 10_000)), appendTo(t, first, random(3, 10))
	if err := first.Sync(); err != nil {
		t.Fatal(err)
	}

	h := heap.New(c)
	asked, failure := 0, errors.New("the list cannot be read")
	h.SetLiveLater(func() error {
		asked++
		if failure != nil {
			return failure
		}
		return h.SetLive(slices.Values([]heap.Location{a, last}))
	})
	readBack(t, h, b, random(2, 10_000))
	if asked != 0 {
		t.Errorf("a read asked for the live records")
	}
	tail := c.Tail()
	if _, err := h.Append([32]byte{}, random(4, 10_000)); !errors.Is(err, failure) {
		t.Errorf("an append without the list: %v", err)
	}
	failure = nil
	if got := appendTo(t, h, random(4, 10_000)); got.Offset != b.Offset {
		t.Errorf("the record lies at %d, the free range at %d", got.Offset, b.Offset)
	}
	appendTo(t, h, random(5, 10))
	if asked != 2 || c.Tail() < tail {
		t.Errorf("asked %d times, the tail went from %d to %d", asked, tail, c.Tail())
	}
	readBack(t, h, a, random(1, 10_000))
	readBack(t, h, last, random(3, 10))
}

func readBack(t *testing.T, h *heap.Heap, at heap.Location, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if err := h.Read(at, sha256.Sum256(want), got); err != nil {
		t.Errorf("the record at %d: %v", at.Offset, err)
	}
}
