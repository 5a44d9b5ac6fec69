package s3

import (
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestSizesOfPartsAreReadAsTheyWereWritten(t *testing.T) {
	for _, sizes := range [][]int64{{1}, {0}, {5, 5, 5, 2}, {5, 6, 5}, {7, 7}} {
		parts := make([]objectstore.Part, len(sizes))
		for i, size := range sizes {
			parts[i] = objectstore.Part{Number: i + 1, Size: size}
		}
		text := sizesText(parts)
		var at int64
		for i, size := range sizes {
			start, end, count, ok := partRange(text, i+1)
			if !ok || start != at || end != at+size || count != len(sizes) {
				t.Errorf("%q part %d: %d to %d of %d, %v", text, i+1, start, end, count, ok)
			}
			at += size
		}
		if _, _, _, ok := partRange(text, len(sizes)+1); ok {
			t.Errorf("%q has one part too many", text)
		}
	}
	for _, wrong := range []string{"", "x", "3*", "*5", "-1", "0*5", "99999999999999999999*5"} {
		if _, _, _, ok := partRange(wrong, 1); ok {
			t.Errorf("%q says something", wrong)
		}
	}
}
