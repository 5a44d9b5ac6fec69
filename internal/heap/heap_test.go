package heap_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
)

func file(t testing.TB, hook container.Hook) *container.Container {
	t.Helper()
	c, err := container.Open(filepath.Join(t.TempDir(), "db"), container.Options{Create: true, Hook: hook})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func random(seed byte, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

func appendTo(t testing.TB, h *heap.Heap, data []byte) heap.Location {
	t.Helper()
	loc, err := h.Append(sha256.Sum256(data), data)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestChunksOfAllSizesComeBack(t *testing.T) {
	h := heap.New(file(t, nil))
	for _, size := range []int{0, 1, 63, 64, heap.BlockSize - 1, heap.BlockSize, heap.BlockSize + 1, 3*heap.BlockSize + 5, 4 << 20} {
		data := random(byte(size), size)
		digest := sha256.Sum256(data)
		loc := appendTo(t, h, data)
		if loc.Size != int64(size) || loc.Offset%64 != 0 {
			t.Errorf("%d bytes: %+v", size, loc)
		}
		got := make([]byte, size)
		if err := h.Read(loc, digest, got); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: read: %v", size, err)
		}
		if same, err := h.Equal(loc, data); !same || err != nil {
			t.Errorf("%d bytes: equal: %v, %v", size, same, err)
		}
		for _, r := range [][2]int{{0, size}, {0, min(1, size)}, {size / 2, size}, {max(0, size-1), size}, {size / 3, size/3 + min(5000, size-size/3)}, {size, size}} {
			p := make([]byte, r[1]-r[0])
			if err := h.ReadAt(loc, digest, p, int64(r[0])); err != nil || !bytes.Equal(p, data[r[0]:r[1]]) {
				t.Errorf("%d bytes: read %v: %v", size, r, err)
			}
		}
		for _, r := range [][2]int64{{-1, 1}, {int64(size), 1}, {0, int64(size) + 1}, {1 << 62, 1}} {
			if err := h.ReadAt(loc, digest, make([]byte, r[1]), r[0]); !errors.Is(err, heap.ErrCorrupt) {
				t.Errorf("%d bytes: read %v: %v", size, r, err)
			}
		}
	}
	if _, err := h.Append([32]byte{}, make([]byte, heap.MaxSize+1)); err == nil {
		t.Error("a chunk that is too large was taken")
	}
}

func TestWrongLocationsAreDamage(t *testing.T) {
	h := heap.New(file(t, nil))
	data := random(1, 100_000)
	digest := sha256.Sum256(data)
	loc := appendTo(t, h, data)
	for _, wrong := range []heap.Location{
		{},
		{Offset: -64, Size: 10, Stored: 10},
		{Offset: loc.Offset + 1, Size: loc.Size, Stored: loc.Size},
		{Offset: loc.Offset + 64, Size: loc.Size, Stored: loc.Size},
		{Offset: loc.Offset, Size: loc.Size - 1, Stored: loc.Size - 1},
		{Offset: loc.Offset, Size: loc.Size + 1, Stored: loc.Size + 1},
		{Offset: 1 << 40, Size: 100, Stored: 100},
		{Offset: 1 << 62, Size: 100, Stored: 100},
		{Offset: loc.Offset, Size: 0},
		{Offset: 64, Size: 64, Stored: 64},
	} {
		if err := h.Read(wrong, digest, make([]byte, max(0, wrong.Size))); !errors.Is(err, heap.ErrCorrupt) {
			t.Errorf("read %+v: %v", wrong, err)
		}
		if err := h.ReadAt(wrong, digest, nil, 0); !errors.Is(err, heap.ErrCorrupt) {
			t.Errorf("read at %+v: %v", wrong, err)
		}
		if same, err := h.Equal(wrong, data); same || err != nil {
			t.Errorf("equal %+v: %v, %v", wrong, same, err)
		}
	}
	if err := h.Read(loc, sha256.Sum256([]byte("other")), make([]byte, loc.Size)); !errors.Is(err, heap.ErrCorrupt) {
		t.Errorf("another digest: %v", err)
	}
}

// A disk that writes a record to a wrong place leaves a whole one there.
func TestAWholeRecordOfAnotherChunkIsDamage(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	asked, other := random(1, 100_000), random(2, 100_000)
	loc, elsewhere := appendTo(t, h, asked), appendTo(t, h, other)
	record := make([]byte, elsewhere.End()-elsewhere.Offset)
	if _, err := c.ReadAt(record, elsewhere.Offset); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteAt(loc.Offset, record); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	if err := h.ReadAt(loc, sha256.Sum256(asked), p, 0); !errors.Is(err, heap.ErrCorrupt) {
		t.Errorf("read at gave bytes of another chunk: %v", err)
	}
	if err := h.ReadAt(elsewhere, sha256.Sum256(other), p, 0); err != nil {
		t.Error(err)
	}
}

// mustFindDamage reads a damaged record in every way. at is the byte that differs.
func mustFindDamage(t *testing.T, h *heap.Heap, loc heap.Location, data []byte, at int) {
	t.Helper()
	digest, got := sha256.Sum256(data), make([]byte, loc.Size)
	if err := h.Read(loc, digest, got); !errors.Is(err, heap.ErrCorrupt) {
		t.Fatalf("byte %d: read: %v", at, err)
	}
	if err := h.ReadAt(loc, digest, got, 0); !errors.Is(err, heap.ErrCorrupt) {
		t.Fatalf("byte %d: read at: %v", at, err)
	}
	if same, err := h.Equal(loc, data); same || err != nil {
		t.Fatalf("byte %d: equal: %v, %v", at, same, err)
	}
	if _, err := h.Copy(loc, digest, make([]byte, loc.Stored), h); !errors.Is(err, heap.ErrCorrupt) {
		t.Fatalf("byte %d: copy: %v", at, err)
	}
}

// Every single bit of a record matters to somebody who reads it.
func TestDamageIsFound(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	data := random(1, 2*heap.BlockSize+300)
	digest := sha256.Sum256(data)
	loc := appendTo(t, h, data)
	record := make([]byte, loc.End()-loc.Offset)
	if _, err := c.ReadAt(record, loc.Offset); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, loc.Size)
	rng := rand.New(rand.NewPCG(1, 1))
	for at := 0; at < len(record); at += 1 + min(at/60, 500)*rng.IntN(2) + at/60 {
		record[at] ^= 1 << rng.IntN(8)
		flipped := slices.Clone(record[at : at+1])
		if err := c.WriteAt(loc.Offset+int64(at), flipped); err != nil {
			t.Fatal(err)
		}
		mustFindDamage(t, h, loc, data, at)
		if _, err := c.ReadAt(record, loc.Offset); err != nil {
			t.Fatal(err)
		}
		if err := h.ReadAt(loc, digest, nil, 0); err == nil && at < 40 {
			t.Fatalf("byte %d of the header: not found", at)
		}
		again := appendTo(t, h, data) // an upload of the same bytes heals it
		if err := h.Read(again, digest, got); err != nil {
			t.Fatal(err)
		}
		h.Free(loc)
		loc = again
		if _, err := c.ReadAt(record, loc.Offset); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyAppendAtOnce(t *testing.T) {
	h := heap.New(file(t, nil))
	var wg sync.WaitGroup
	locs := make([][]heap.Location, 8)
	for g := range locs {
		wg.Go(func() {
			for i := range 40 {
				data := random(byte(g*40+i), 1000*g+i)
				loc, err := h.Append(sha256.Sum256(data), data)
				if err != nil {
					t.Error(err)
					return
				}
				if i%7 == 3 {
					h.Free(loc)
					continue
				}
				if i%10 == 0 {
					if err := h.Sync(); err != nil {
						t.Error(err)
					}
				}
				got := make([]byte, len(data))
				if err := h.Read(loc, sha256.Sum256(data), got); err != nil {
					t.Error(err)
				}
				locs[g] = append(locs[g], loc)
			}
		})
	}
	wg.Wait()
	if err := h.SetLive(slices.Values(slices.Concat(locs...))); err != nil {
		t.Error(err) // they overlap
	}
}

func TestFreeSpaceIsUsedAgain(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	var locs, kept []heap.Location
	for i := range 100 {
		locs = append(locs, appendTo(t, h, random(byte(i), 10_000)))
	}
	for i, loc := range locs {
		if i%2 == 0 {
			h.Free(loc)
		} else {
			kept = append(kept, loc)
		}
	}
	tail := c.Tail()
	for i := range 50 {
		kept = append(kept, appendTo(t, h, random(byte(i), 10_000)))
	}
	if c.Tail() != tail || h.FreeBytes() != 0 {
		t.Errorf("the tail went from %d to %d, %d bytes are free", tail, c.Tail(), h.FreeBytes())
	}
	if err := h.SetLive(slices.Values(kept)); err != nil {
		t.Fatal(err)
	}
	if err := h.SetLive(slices.Values(kept[:50])); err != nil { // the odd ones
		t.Fatal(err)
	}
	if free := h.FreeBytes(); free < 49*10_000 {
		t.Errorf("%d bytes are free", free)
	}
	if err := h.SetLive(slices.Values(kept[:1])); err != nil {
		t.Fatal(err)
	}
	if got := c.Tail(); got > kept[0].End()+64 {
		t.Errorf("the tail is %d, the only record ends at %d", got, kept[0].End())
	}
}

func TestLocationsThatCannotBeAreDamage(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	a, b := appendTo(t, h, random(1, 1000)), appendTo(t, h, random(2, 1000))
	for _, live := range [][]heap.Location{
		{a, a},
		{a, b, {Offset: a.Offset + 64, Size: 10, Stored: 10}},
		{{Offset: 64, Size: 10, Stored: 10}},
		{{Offset: 20 << 10, Size: 10, Stored: 10}},
		{{Offset: 1, Size: 10, Stored: 10}},
		{{Offset: a.Offset, Size: a.Size}},
		{{Offset: a.Offset, Size: -1}},
	} {
		if err := h.SetLive(slices.Values(live)); !errors.Is(err, heap.ErrCorrupt) {
			t.Errorf("%v: %v", live, err)
		}
	}
	if err := h.SetLive(slices.Values([]heap.Location{a, {Offset: b.Offset, Size: 100_000, Stored: 100_000}})); !errors.Is(err, container.ErrTruncated) {
		t.Errorf("a record beyond the end: %v", err)
	}
	if err := h.SetLive(slices.Values([]heap.Location{b, a})); err != nil {
		t.Error(err)
	}
}

func TestAFailedAppendGivesItsSpaceBack(t *testing.T) {
	full := false
	c := file(t, func(op container.Op, do func() error) error {
		if full && op.Kind == container.OpWrite {
			return syscall.ENOSPC
		}
		return do()
	})
	h := heap.New(c)
	full = true
	data := random(1, 5000)
	if _, err := h.Append(sha256.Sum256(data), data); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v", err)
	}
	full = false
	tail := c.Tail()
	loc := appendTo(t, h, data)
	if c.Tail() != tail {
		t.Error("the space was not used again")
	}
	if err := h.Read(loc, sha256.Sum256(data), make([]byte, 5000)); err != nil {
		t.Error(err)
	}
}

// What is free at the file's end goes back to the disk, and nothing else.
func TestShrinkGivesTheFilesEndBack(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	kept := appendTo(t, h, random(1, 100_000))
	end := c.Tail()
	between, last := appendTo(t, h, random(2, 200_000)), appendTo(t, h, random(3, 300_000))
	grown := c.Tail()
	h.Free(between)
	if err := h.Shrink(); err != nil || c.Tail() != grown {
		t.Errorf("with a record behind what is free: %v, the end is %d, not %d", err, c.Tail(), grown)
	}
	h.Free(last)
	taken, err := c.Take(64) // as SQLite's pages are
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Shrink(); err != nil || c.Tail() != taken+64 {
		t.Errorf("with a range behind that is not a record: %v, the end is %d", err, c.Tail())
	}
	if cut, err := c.GiveBack(taken, c.Tail(), false); err != nil || cut != taken {
		t.Fatalf("%d, %v", cut, err)
	}
	if err := h.Shrink(); err != nil || c.Tail() != end {
		t.Errorf("%v, the end is %d, not %d", err, c.Tail(), end)
	}
	if size, err := os.Stat(c.Path()); err != nil || size.Size() > end {
		t.Errorf("the file has %d bytes, %v", size.Size(), err)
	}
	if h.FreeBytes() != 0 {
		t.Errorf("%d bytes are free", h.FreeBytes())
	}
	for _, loc := range []heap.Location{kept, appendTo(t, h, random(1, 100_000))} {
		if err := h.Read(loc, sha256.Sum256(random(1, 100_000)), make([]byte, 100_000)); err != nil {
			t.Error(err)
		}
	}
}

// After a failed sync the kernel may have dropped what was written, and says
// that all is well the next time. The records are written once more.
func TestRecordsOutliveAFailedSync(t *testing.T) {
	var mu sync.Mutex
	broken, writes := false, map[int64]int{}
	c := file(t, func(op container.Op, do func() error) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind == container.OpWrite {
			writes[op.Offset]++
		}
		if op.Kind == container.OpSync && broken {
			return syscall.EIO
		}
		return do()
	})
	h := heap.New(c)
	safe := appendTo(t, h, random(1, 1000))
	if err := h.Sync(); err != nil {
		t.Fatal(err)
	}
	risky, freed := appendTo(t, h, random(2, 1000)), appendTo(t, h, random(3, 1000))
	broken = true
	for range 2 {
		if err := h.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
	}
	broken = false
	h.Free(freed)
	if err := h.Sync(); err != nil {
		t.Fatal(err)
	}
	if writes[safe.Offset] != 1 || writes[risky.Offset] < 2 {
		t.Errorf("written %d and %d times", writes[safe.Offset], writes[risky.Offset])
	}
	before := writes[risky.Offset]
	if err := h.Sync(); err != nil || writes[risky.Offset] != before {
		t.Errorf("written again after a good sync: %v", err)
	}
}

func TestALostRecordIsReported(t *testing.T) {
	broken := false
	c := file(t, func(op container.Op, do func() error) error {
		if op.Kind == container.OpSync && broken {
			return syscall.EIO
		}
		return do()
	})
	h := heap.New(c)
	loc := appendTo(t, h, random(1, 1000))
	broken = true
	if err := h.Sync(); err == nil {
		t.Fatal("no error")
	}
	broken = false
	if err := c.WriteAt(loc.Offset+100, make([]byte, 200)); err != nil { // what the disk has
		t.Fatal(err)
	}
	if err := h.Sync(); !errors.Is(err, heap.ErrLost) {
		t.Fatalf("got %v", err)
	}
	h.Free(loc)
	if err := h.Sync(); err != nil {
		t.Error(err)
	}
}

func TestScanFindsRecordsWithoutACatalog(t *testing.T) {
	c := file(t, nil)
	h := heap.New(c)
	var want []heap.Location
	for i := range 60 {
		want = append(want, appendTo(t, h, random(byte(i), i*i*100)))
	}
	if err := c.WriteAt(want[30].Offset+200, []byte("damage")); err != nil {
		t.Fatal(err)
	}
	var got []heap.Location
	for found, err := range h.Scan(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if whole := found.Location != want[30]; whole != found.Whole {
			t.Errorf("%+v: whole is %v", found.Location, found.Whole)
		}
		got = append(got, found.Location)
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %d of %d: %v", len(got), len(want), got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range h.Scan(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// What was appended reaches the disk before anybody asks for it.
func TestTheDiskIsKeptBusy(t *testing.T) {
	synced := make(chan struct{}, 100)
	c := file(t, func(op container.Op, do func() error) error {
		if op.Kind == container.OpSync {
			synced <- struct{}{}
			return nil
		}
		return do()
	})
	h := heap.New(c)
	<-synced // of the new file
	data := random(1, 8<<20)
	for range 9 {
		appendTo(t, h, data)
	}
	<-synced
	h.Close()
}

// FuzzRecord reads whatever lies in the file as a record.
func FuzzRecord(f *testing.F) {
	path := filepath.Join(f.TempDir(), "db")
	c, err := container.Open(path, container.Options{Create: true})
	if err != nil {
		f.Fatal(err)
	}
	defer c.Close()
	h := heap.New(c)
	data := random(1, 300)
	loc := appendTo(f, h, data)
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw[loc.Offset:], int64(300))
	f.Add([]byte("SDc\x01\xff\xff\xff\xff"), int64(1<<40))
	f.Fuzz(func(t *testing.T, record []byte, size int64) {
		if len(record) > 1<<20 {
			return
		}
		if err := c.WriteAt(loc.Offset, record); err != nil {
			t.Fatal(err)
		}
		at := heap.Location{Offset: loc.Offset, Size: size}
		p := make([]byte, max(0, min(size, 1<<20)))
		if err := h.Read(at, [32]byte{}, p); err == nil {
			t.Error("bytes with a digest of zeros")
		}
		_ = h.ReadAt(at, sha256.Sum256(data), p, 0)
		for _, err := range h.Scan(t.Context()) {
			if err != nil {
				t.Error(err)
			}
		}
	})
}
