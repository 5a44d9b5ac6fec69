package checksum

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestChecksumsOfPartsMakeThatOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []Algorithm{CRC32, CRC32C, CRC64NVME} {
		for range 50 {
			var sums [][]byte
			var sizes []int64
			all := c.New()
			for range random.IntN(5) + 1 {
				part := make([]byte, random.IntN(1<<random.IntN(14)))
				for i := range part {
					part[i] = byte(random.Uint32())
				}
				h := c.New()
				h.Write(part)
				all.Write(part)
				sums, sizes = append(sums, h.Sum(nil)), append(sizes, int64(len(part)))
			}
			if got, ok := c.Combine(sums, sizes); !ok || !bytes.Equal(got, all.Sum(nil)) {
				t.Fatalf("%s of parts of %d bytes: %x, want %x", c, sizes, got, all.Sum(nil))
			}
		}
	}
}
