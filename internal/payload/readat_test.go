package payload

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"testing"

	"github.com/stardustdb/stardust/internal/heap"
)

// evicted reads from a payload at offset 0, then pushes its chunk out of the cache,
// so that the next read comes from blocks of the file.
func evicted(t *testing.T, p *place, r *Reader) {
	t.Helper()
	if _, err := r.ReadAt(t.Context(), make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	for p.uncache() {
	}
	if p.vouched.size() == 0 {
		t.Fatal("the verified chunk was forgotten")
	}
}

// record returns where a chunk's record lies in the file, and its bytes.
func record(t *testing.T, file *os.File, data []byte) (offset int64, raw []byte) {
	t.Helper()
	all, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(all, data)
	head := int((heap.Location{Size: int64(len(data)), Stored: int64(len(data))}).End()) - len(data)
	return int64(at - head), all[at-head : at+len(data)]
}

// TestAReadIsOfTheChunkThatWasAskedFor puts other bytes where a verified chunk lay:
// a whole record of another chunk of equal size, and a block with checksums that
// match it. A read from the file must find out.
func TestAReadIsOfTheChunkThatWasAskedFor(t *testing.T) {
	wrong := map[string]func(own, other []byte, blocks int) []byte{
		"another record": func(_, other []byte, _ int) []byte { return other },
		"a forged block": func(own, _ []byte, blocks int) []byte {
			head, table := 40+4*blocks+4, crc32.MakeTable(crc32.Castagnoli)
			own[head] ^= 1
			binary.LittleEndian.PutUint32(own[40:], crc32.Checksum(own[head:head+heap.BlockSize], table))
			binary.LittleEndian.PutUint32(own[head-4:], crc32.Checksum(own[:head-4], table))
			return own
		},
	}
	for name, change := range wrong {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, 64<<20)
			const size = 200 << 10
			one, other := random(1, size), random(2, size)
			r := p.open(t, p.upload(t, one))
			p.upload(t, other)
			evicted(t, p, r)

			file, err := os.OpenFile(p.file.Path(), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			offset, own := record(t, file, one)
			_, others := record(t, file, other)
			if _, err := file.WriteAt(change(own, others, size/heap.BlockSize+1), offset); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 100)
			if n, err := r.ReadAt(t.Context(), got, 0); n != 0 || !IsDamage(err) {
				t.Errorf("read %d bytes, %v; right: %v", n, err, bytes.Equal(got, one[:100]))
			}
		})
	}
}

// TestBlocksOfAVerifiedChunkAreRead reads all kinds of ranges from blocks.
func TestBlocksOfAVerifiedChunkAreRead(t *testing.T) {
	p := newPlace(t, 64<<20)
	data := random(1, 3*heap.BlockSize+100)
	r := p.open(t, p.upload(t, data))
	evicted(t, p, r)
	for _, r2 := range [][2]int{
		{0, 1},
		{0, len(data)},
		{heap.BlockSize, 2 * heap.BlockSize},
		{heap.BlockSize - 1, heap.BlockSize + 1},
		{1, 3*heap.BlockSize + 1},
		{3 * heap.BlockSize, len(data)},
		{len(data) - 1, len(data)},
	} {
		got := make([]byte, r2[1]-r2[0])
		if n, err := r.ReadAt(t.Context(), got, int64(r2[0])); n != len(got) || err != nil || !bytes.Equal(got, data[r2[0]:r2[1]]) {
			t.Errorf("%v: %d bytes, %v", r2, n, err)
		}
	}
	if p.cache.size() != 0 {
		t.Error("the whole chunk was read")
	}
}
