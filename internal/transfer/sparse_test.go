package transfer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestHolesReadAsTheZerosTheyStandFor writes random runs of zeros and other bytes
// in random pieces.
func TestHolesReadAsTheZerosTheyStandFor(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var want []byte
		for range random.IntN(6) {
			run := make([]byte, random.IntN(5*holeSize))
			if random.IntN(2) == 0 {
				run = bytes.Repeat([]byte{'x'}, random.IntN(3*holeSize))
			}
			want = append(want, run...)
		}
		path := filepath.Join(t.TempDir(), "f")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := &sparseWriter{file: file}
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(3*holeSize))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatal(got, n, err)
			}
			rest = rest[n:]
		}
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes became %d others, %v", len(want), len(got), err)
		}
	}
}
