package transfer

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// countedFile counts the bytes that are read of a file.
type countedFile struct {
	*os.File
	read int64
}

func (c *countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.read += int64(n)
	return n, err
}

// TestHolesAreNotRead reads files with data in some places: every byte is right,
// and hardly more than the data is read.
func TestHolesAreNotRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		path := filepath.Join(t.TempDir(), "sparse")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(8<<20 + r.IntN(1<<20))
		if err := file.Truncate(size); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 1+r.IntN(64<<10))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for range round % 4 { // without any at first
			if _, err := file.WriteAt(data, r.Int64N(size-int64(len(data)))); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if s := statOf(info); !s.hasHoles() {
			t.Skip("the file system of the test makes no holes")
		}
		counted := &countedFile{File: file}
		holes := &holesReader{file: counted}
		for try := range 2 { // a file that changes is read again
			if got, err := io.ReadAll(iotest.HalfReader(holes)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("round %d: %d bytes of %d, %v", round, len(got), len(want), err)
			}
			if most := int64((try + 1) * 4 * (len(data) + 16<<10)); counted.read > most || !holes.found {
				t.Errorf("round %d: %d bytes were read of %d with a hole (%v)", round, counted.read, most, holes.found)
			}
			holes.rewind()
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
