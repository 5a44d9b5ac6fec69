package checksum

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestChecksumVectors: the check values of "123456789" that the algorithms'
// own definitions give.
func TestChecksumVectors(t *testing.T) {
	for c, want := range map[Algorithm]string{
		CRC32: "cbf43926", CRC32C: "e3069283", CRC64NVME: "ae8b14860a799888",
		SHA1: "f7c3bc1d808e04732adf679965ccc34ca7ae3441", MD5: "25f9e794323b453885f5181f1b624d0b",
		SHA256:   "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
		XXHASH64: "8cb841db40e6ae83",
	} {
		h := c.New()
		_, _ = h.Write([]byte("123456789"))
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: %s, want %s", c, got, want)
		}
	}
	for _, c := range Algorithms() {
		if parsed, ok := Parse(strings.ToLower(string(c))); !ok || parsed != c {
			t.Errorf("%s does not parse", c)
		}
		if h := c.New(); len(h.Sum(nil)) != h.Size() {
			t.Errorf("%s: a sum of %d bytes, not %d", c, len(h.Sum(nil)), h.Size())
		}
	}
}
