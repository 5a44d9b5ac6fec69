package heap

import (
	"math/rand/v2"
	"testing"
)

// A byte is never given out twice, and none gets lost.
func TestFreeRangesAgreeWithAMap(t *testing.T) {
	const size = 1 << 16
	f, model := newFree(), make([]bool, size)
	f.add(0, size)
	for i := range model {
		model[i] = true
	}
	rng := rand.New(rand.NewPCG(3, 4))
	type taken struct{ off, n int64 }
	var out []taken
	free := int64(size)
	for range 20_000 {
		if n := 1 + rng.Int64N(300); rng.IntN(2) == 0 {
			off, ok := f.take(n)
			if !ok {
				continue
			}
			for i := off; i < off+n; i++ {
				if !model[i] {
					t.Fatalf("byte %d was given out twice", i)
				}
				model[i] = false
			}
			out, free = append(out, taken{off, n}), free-n
		} else if len(out) > 0 {
			i := rng.IntN(len(out))
			r := out[i]
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
			f.add(r.off, r.n)
			free += r.n
			for i := r.off; i < r.off+r.n; i++ {
				model[i] = true
			}
		}
		if f.total != free {
			t.Fatalf("%d bytes are free, want %d", f.total, free)
		}
	}
	for _, r := range out {
		f.add(r.off, r.n)
	}
	if len(f.size) != 1 || f.size[0] != size {
		t.Errorf("not one range at the end: %v", f.size)
	}
}
