package heap_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
)

// compressing is a heap that compresses.
func compressing(t testing.TB, f heap.File) *heap.Heap {
	t.Helper()
	h := heap.New(f)
	if err := h.Compress(2, 4<<20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// prose is n bytes that get about three times smaller.
func prose(seed byte, n int) []byte {
	rng := rand.New(rand.NewChaCha8([32]byte{seed}))
	words := make([]string, 100)
	for i := range words {
		words[i] = hex.EncodeToString(random(byte(i), 1+rng.IntN(4)))
	}
	var p []byte
	for len(p) < n {
		p = append(append(p, words[rng.IntN(len(words))]...), ' ')
	}
	return p[:n]
}

// mixed is prose and noise by turns, block by block.
func mixed(n int) []byte {
	p := prose(7, n)
	for at := heap.BlockSize; at < n; at += 2 * heap.BlockSize {
		copy(p[at:min(n, at+heap.BlockSize)], random(byte(at>>16), heap.BlockSize))
	}
	return p
}

func TestCompressedChunksComeBack(t *testing.T) {
	h := compressing(t, file(t, nil))
	for name, data := range map[string][]byte{
		"small":              prose(1, 1500),
		"one block":          prose(2, heap.BlockSize),
		"a byte more":        prose(3, heap.BlockSize+1),
		"many pieces":        prose(4, 1<<20+77),
		"the largest":        prose(5, 4<<20),
		"zeros":              make([]byte, 4<<20),
		"with blocks as are": mixed(10*heap.BlockSize + 9),
	} {
		t.Run(name, func(t *testing.T) {
			digest := sha256.Sum256(data)
			loc := appendTo(t, h, data)
			if loc.Size != int64(len(data)) || loc.Stored > loc.Size*31/32 {
				t.Fatalf("%d bytes: %+v", len(data), loc)
			}
			got := make([]byte, len(data))
			if err := h.Read(loc, digest, got); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("read: %v", err)
			}
			if same, err := h.Equal(loc, data); !same || err != nil {
				t.Errorf("equal: %v, %v", same, err)
			}
			other := slices.Clone(data)
			other[len(other)-1] ^= 1
			if same, err := h.Equal(loc, other); same || err != nil {
				t.Errorf("equal to other bytes: %v, %v", same, err)
			}
			if err := h.Read(loc, sha256.Sum256(other), got); !errors.Is(err, heap.ErrCorrupt) {
				t.Errorf("read as another chunk: %v", err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 20 {
				off := rng.IntN(len(data))
				p := make([]byte, min(len(data)-off, rng.IntN(3*heap.BlockSize)))
				if err := h.ReadAt(loc, digest, p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+len(p)]) {
					t.Fatalf("read %d at %d: %v", len(p), off, err)
				}
				if err := h.ReadRaw(loc, p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+len(p)]) {
					t.Fatalf("read raw %d at %d: %v", len(p), off, err)
				}
			}
			to := heap.New(file(t, nil))
			copied, err := h.Copy(loc, digest, make([]byte, loc.Stored), to)
			if err != nil || copied.Stored != loc.Stored {
				t.Fatalf("copy: %+v, %v", copied, err)
			}
			clear(got)
			if err := to.Read(copied, digest, got); err != nil || !bytes.Equal(got, data) {
				t.Errorf("read the copy: %v", err)
			}
		})
	}
}

// TestWhatDoesNotGetSmallerStaysAsItIs has nothing to restore at a read.
func TestWhatDoesNotGetSmallerStaysAsItIs(t *testing.T) {
	h := compressing(t, file(t, nil))
	for _, data := range [][]byte{
		nil, []byte("short"), make([]byte, 20), random(1, 200), random(2, 5000), random(3, 40_000), random(4, 1<<20),
		append(prose(1, 3000), random(5, 1<<20)...), // not worth it
	} {
		loc := appendTo(t, h, data)
		if loc.Stored != int64(len(data)) {
			t.Errorf("%d bytes: %+v", len(data), loc)
		}
		if err := h.Read(loc, sha256.Sum256(data), make([]byte, len(data))); err != nil {
			t.Error(err)
		}
	}
}

// TestLittleScratchMemoryStoresLargeChunksAsTheyAre, and small ones compressed.
func TestLittleScratchMemoryStoresLargeChunksAsTheyAre(t *testing.T) {
	h := heap.New(file(t, nil))
	if err := h.Compress(1, 0); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{prose(1, heap.BlockSize), prose(2, 1<<20)} {
		loc := appendTo(t, h, data)
		if packed := loc.Stored < loc.Size; packed != (len(data) <= heap.BlockSize) {
			t.Errorf("%d bytes: %+v", len(data), loc)
		}
		if err := h.Read(loc, sha256.Sum256(data), make([]byte, len(data))); err != nil {
			t.Error(err)
		}
	}
}

// TestDamageOfCompressedChunksIsFound flips bits all over a record.
func TestDamageOfCompressedChunksIsFound(t *testing.T) {
	c := file(t, nil)
	h := compressing(t, c)
	data := mixed(4*heap.BlockSize + 300)
	digest := sha256.Sum256(data)
	loc := appendTo(t, h, data)
	record := make([]byte, loc.End()-loc.Offset)
	if _, err := c.ReadAt(record, loc.Offset); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(record); at += 1 + at/100 {
		bad := slices.Clone(record)
		bad[at] ^= 1 << (at % 8)
		if err := c.WriteAt(loc.Offset, bad); err != nil {
			t.Fatal(err)
		}
		mustFindDamage(t, h, loc, data, at)
	}
	for _, wrong := range []heap.Location{
		{Offset: loc.Offset, Size: loc.Size},
		{Offset: loc.Offset, Size: loc.Size, Stored: loc.Size},
		{Offset: loc.Offset, Size: loc.Size, Stored: loc.Stored - 1},
		{Offset: loc.Offset, Size: loc.Size, Stored: loc.Stored + 1},
		{Offset: loc.Offset, Size: loc.Size - 1, Stored: loc.Stored},
		{Offset: loc.Offset, Size: loc.Size, Stored: -1},
		{Offset: loc.Offset, Size: loc.Size, Stored: 1 << 60},
	} {
		if err := h.Read(wrong, digest, make([]byte, wrong.Size)); !errors.Is(err, heap.ErrCorrupt) {
			t.Errorf("read %+v: %v", wrong, err)
		}
	}
}

// TestAFrameThatClaimsToBeLargeTakesNoMemory writes a block whose frame, with the
// right checksums, claims a content of a gigabyte, and others that claim less than
// the block or more.
func TestAFrameThatClaimsToBeLargeTakesNoMemory(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	const size = 50_000
	frames := map[string]string{
		"a gigabyte":       "28b52ffda000000040", // single segment, content size in 4 bytes
		"nothing":          "28b52ffd2000010000",
		"no frame at all":  "00",
		"a skippable one":  "502a4d1800000000",
		"a window of 2 GB": "28b52ffd00a8010000",
	}
	for name, text := range frames {
		frame, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if name == "a gigabyte" { // a block that repeats one byte a gigabyte's worth
			frame = append(frame, 0x02|0x01, 0xff, 0xff, 'x')
		}
		digest := sha256.Sum256(make([]byte, size))
		loc := writePacked(t, c, digest, size, [][]byte{frame})
		data := make([]byte, size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := h.Read(loc, digest, data); !errors.Is(err, heap.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 4<<20 {
			t.Errorf("%s: %d bytes were allocated", name, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

// writePacked writes the record of a compressed chunk by hand, as docs/formats.md
// has it.
func writePacked(t testing.TB, c *container.Container, digest [32]byte, size int, stored [][]byte) heap.Location {
	t.Helper()
	crc := func(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }
	record := append([]byte("SDc\x02"), binary.LittleEndian.AppendUint32(nil, uint32(size))...)
	record = append(record, digest[:]...)
	total := 0
	for _, block := range stored {
		record = binary.LittleEndian.AppendUint32(record, uint32(len(block)))
		record = binary.LittleEndian.AppendUint32(record, crc(block))
		total += len(block)
	}
	record = binary.LittleEndian.AppendUint32(record, crc(record))
	record = append(record, bytes.Join(stored, nil)...)
	at, err := c.Take(int64(len(record)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteAt(at, record); err != nil {
		t.Fatal(err)
	}
	return heap.Location{Offset: at, Size: int64(size), Stored: int64(total)}
}

// TestCompressedRecordsStayAsTheyAre reads a record that never changes, made of a
// frame of the reference implementation of Zstandard's format: "abcd" 64 times.
func TestCompressedRecordsStayAsTheyAre(t *testing.T) {
	c := file(t, nil)
	data := bytes.Repeat([]byte("abcd"), 64)
	frame, err := hex.DecodeString("28b52ffd6000005d000020616263640100f9294704")
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(data)
	loc := writePacked(t, c, digest, len(data), [][]byte{frame})
	got := make([]byte, len(data))
	if err := heap.New(c).Read(loc, digest, got); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestScanFindsCompressedChunks(t *testing.T) {
	c := file(t, nil)
	h := compressing(t, c)
	want := map[[32]byte]heap.Location{}
	for i := range 20 {
		data := prose(byte(i), 300+i*9000)
		if i%3 == 0 {
			data = random(byte(i), 300+i*9000)
		}
		want[sha256.Sum256(data)] = appendTo(t, h, data)
	}
	for found, err := range heap.New(c).Scan(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if want[found.Digest] != found.Location || !found.Whole {
			t.Errorf("found %+v, want %+v", found, want[found.Digest])
		}
		delete(want, found.Digest)
	}
	if len(want) > 0 {
		t.Errorf("%d records were not found", len(want))
	}
}

// TestAFailedSyncWritesCompressedChunksAgain, and finds the one that was lost.
func TestAFailedSyncWritesCompressedChunksAgain(t *testing.T) {
	fail := false
	writes := 0
	c := file(t, func(op container.Op, do func() error) error {
		if op.Kind == container.OpWrite && !op.WAL {
			writes++
		}
		if op.Kind == container.OpSync && fail {
			return syscall.EIO
		}
		return do()
	})
	h := compressing(t, c)
	data := mixed(5 * heap.BlockSize)
	loc := appendTo(t, h, data)
	lost := appendTo(t, h, prose(9, 1000))
	fail = true
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	fail, writes = false, 0
	if err := h.Sync(); err != nil || writes != 2 {
		t.Errorf("%d writes, %v", writes, err)
	}
	if err := h.Read(loc, sha256.Sum256(data), make([]byte, len(data))); err != nil {
		t.Error(err)
	}
	third := appendTo(t, h, prose(10, 1000))
	fail = true
	_ = h.Sync()
	fail = false
	if err := c.WriteAt(third.End()-1, []byte{0}); err != nil {
		t.Fatal(err)
	}
	if err := h.Sync(); !errors.Is(err, heap.ErrLost) {
		t.Errorf("the lost one: %v", err)
	}
	_ = lost
}

// FuzzPackedRecord reads records whose body is anything: what comes back is the
// chunk of that digest, or damage, in memory that the catalog's row foresees.
func FuzzPackedRecord(f *testing.F) {
	f.Add(uint32(256), []byte("\x28\xb5\x2f\xfd\x60\x00\x00\x5d\x00\x00\x20\x61\x62\x63\x64\x01\x00\xf9\x29\x47\x04"))
	f.Add(uint32(70_000), []byte{})
	f.Add(uint32(1), []byte("x"))
	c, err := container.Open(fmt.Sprintf("%s/db", f.TempDir()), container.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	h := heap.New(c)
	digest := sha256.Sum256(bytes.Repeat([]byte("abcd"), 64))
	f.Fuzz(func(t *testing.T, size uint32, body []byte) {
		size %= 200_000
		var stored [][]byte
		for rest, left := body, int(size); left > 0; left -= heap.BlockSize {
			n := min(len(rest), left, heap.BlockSize-1)
			stored = append(stored, rest[:n])
			rest = rest[n:]
		}
		loc := writePacked(t, c, digest, int(size), stored)
		if loc.Stored > 0 {
			got := make([]byte, size)
			err := h.Read(loc, digest, got)
			if err == nil && sha256.Sum256(got) != digest || err != nil && !errors.Is(err, heap.ErrCorrupt) {
				t.Errorf("read: %v", err)
			}
			if err := h.ReadAt(loc, digest, got, 0); err != nil && !errors.Is(err, heap.ErrCorrupt) {
				t.Errorf("read at: %v", err)
			}
		}
		h.Free(loc)
	})
}
