package s3

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestChecksumsOfPartsMakeThatOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []checksum{"CRC32", "CRC32C", "CRC64NVME"} {
		for range 50 {
			var sums [][]byte
			var sizes []int64
			all := c.newHash()
			for range random.IntN(5) + 1 {
				part := make([]byte, random.IntN(1<<random.IntN(14)))
				for i := range part {
					part[i] = byte(random.Uint32())
				}
				h := c.newHash()
				h.Write(part)
				all.Write(part)
				sums, sizes = append(sums, h.Sum(nil)), append(sizes, int64(len(part)))
			}
			if got, ok := c.combine(sums, sizes); !ok || !bytes.Equal(got, all.Sum(nil)) {
				t.Fatalf("%s of parts of %d bytes: %x, want %x", c, sizes, got, all.Sum(nil))
			}
		}
	}
}

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
