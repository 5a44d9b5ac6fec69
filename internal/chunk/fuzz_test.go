package chunk_test

import (
	"testing"

	"github.com/stardustdb/stardust/internal/chunk"
)

// FuzzStream writes a payload that the input describes in sizes that it gives,
// and wants the cuts of the payload as a whole.
func FuzzStream(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint32(chunk.Min+1), uint32(777))
	f.Add([]byte{0}, uint32(chunk.Max), uint32(chunk.Max))
	f.Add([]byte("seed"), uint32(3*chunk.Normal), uint32(100_003))
	f.Fuzz(func(t *testing.T, pattern []byte, size, step uint32) {
		if len(pattern) == 0 {
			pattern = []byte{0}
		}
		data := random(pattern[0], int(size%(6<<20)))
		for i := range pattern { // stretches of one byte between random ones
			at := len(data) / len(pattern) * i
			for j := at; j < min(at+int(pattern[i])*1000, len(data)); j++ {
				data[j] = pattern[i]
			}
		}
		step = 4096 + step%(2<<20)
		if got, want := describe("", split(t, data, int(step), chunk.Max)), describe("", cutAll(data)); got != want {
			t.Errorf("size %d, writes of %d:\n got %s\nwant %s", len(data), step, got, want)
		}
	})
}
