package payload

import (
	"errors"
	"io"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/internal/chunk"
)

// slack is what the tests allow beside the memory budget: for the catalog's
// connections, stacks and small things.
const slack = 24 << 20

// heapObjects returns the bytes of objects on the heap, dead ones not yet swept
// included.
func heapObjects() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

func TestBufferClasses(t *testing.T) {
	last := -1
	for size := int64(1); size <= chunk.Max; size += 1 + size/97 {
		got := classSize(size)
		if got < size || got > smallestBuffer && got > size+size/8+1 {
			t.Fatalf("%d bytes get %d", size, got)
		}
		c := class(size)
		if c < last || c > last+1 || class(got) != c {
			t.Fatalf("%d bytes are of class %d after %d; the buffer of %d is of class %d", size, c, last, got, class(got))
		}
		last = c
	}
	if classSize(chunk.Max) != chunk.Max {
		t.Error("the largest buffers are too large")
	}
}

// TestReadersKeepToTheBudget opens readers of chunks just above 256 KiB until there
// is no room, and looks at the memory that they really take.
func TestReadersKeepToTheBudget(t *testing.T) {
	const budget = 32 << 20
	p := newPlace(t, budget)
	readers := make([]*Reader, 160)
	for i := range readers {
		readers[i] = p.open(t, p.upload(t, random(byte(i), 260<<10)))
	}
	runtime.GC()
	before := heapObjects()
	opened := 0
	for ; opened < len(readers); opened++ {
		if _, err := readers[opened].Read(t.Context(), make([]byte, 1)); err != nil {
			if !errors.Is(err, ErrNoMemory) {
				t.Fatal(err)
			}
			break
		}
	}
	if taken := heapObjects() - before; taken > budget+slack/4 {
		t.Errorf("%d readers take %d bytes, the budget is %d", opened, taken, budget)
	}
	if opened < 100 || opened == len(readers) {
		t.Errorf("%d readers of 260 KiB in a budget of 32 MiB", opened)
	}
}

// TestManyUploadsKeepToTheBudget has 200 uploads of 8 MiB compete for the memory of
// 16, and watches the heap.
func TestManyUploadsKeepToTheBudget(t *testing.T) {
	const budget = 64 << 20
	p := newPlace(t, budget)
	data := random(1, 8<<20)
	runtime.GC()
	before := heapObjects()
	var peak atomic.Int64
	watch := func() {
		for now := heapObjects(); ; {
			old := peak.Load()
			if now <= old || peak.CompareAndSwap(old, now) {
				return
			}
		}
	}
	var work sync.WaitGroup
	for range 200 {
		work.Go(func() {
			for {
				d, err := p.tryDraft(t, data, watch)
				if err == nil {
					d.Abandon()
					return
				}
				if !errors.Is(err, ErrNoMemory) {
					t.Error(err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	work.Wait()
	if taken := peak.Load() - before; taken > budget+slack {
		t.Errorf("uploads took %d bytes, the budget is %d", taken, budget)
	} else {
		t.Logf("uploads took %d MiB of a budget of %d", taken>>20, budget>>20)
	}
	if held := p.Held(); held != 0 {
		t.Errorf("%d bytes are still in use", held)
	}
}

// tryDraft stores a payload by small writes, and tells watch of each.
func (p *place) tryDraft(t *testing.T, data []byte, watch func()) (*Draft, error) {
	u, err := p.NewUpload(t.Context())
	if err != nil {
		return nil, err
	}
	defer u.Close()
	for len(data) > 0 {
		n, err := u.Write(t.Context(), data[:min(len(data), 512<<10)])
		if err != nil {
			return nil, err
		}
		data = data[n:]
		watch()
	}
	return u.Detach(t.Context())
}

// TestIdleWorkAheadStarvesNobody has as many large uploads under way as the budget
// has working buffers for, although each may take four while there is room.
func TestIdleWorkAheadStarvesNobody(t *testing.T) {
	p := newPlace(t, 4*workingBuffer)
	data := random(1, 12<<20)
	for i := range 4 {
		u, err := p.NewUpload(t.Context())
		if err != nil {
			t.Fatalf("upload %d: %v", i, err)
		}
		defer u.Close()
		for part := data; len(part) > 0; part = part[1<<20:] {
			if _, err := u.Write(t.Context(), part[:1<<20]); err != nil {
				t.Fatalf("upload %d: %v", i, err)
			}
		}
	}
}

// TestIdleReadAheadStarvesNobody opens readers that have read a byte and hold
// their chunk. What they have read ahead goes to those who need it.
func TestIdleReadAheadStarvesNobody(t *testing.T) {
	const budget = 16 << 20
	p := newPlace(t, budget)
	published := p.upload(t, random(1, 12<<20))
	current := int64(0)
	var readers []*Reader
	for current < budget-2*chunk.Max {
		r := p.open(t, published)
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(t.Context(), make([]byte, 1)); err != nil {
			t.Fatalf("reader %d, with %d bytes of chunks in use: %v", len(readers), current, err)
		}
		current += r.ahead.current.buffer.size()
		readers = append(readers, r)
	}
	// What was reclaimed is read again.
	want := random(1, 12<<20)
	for _, r := range readers[1:] {
		r.Close()
	}
	got := make([]byte, len(want)-1)
	for at := 0; at < len(got); {
		n, err := readers[0].Read(t.Context(), got[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += n
	}
	if string(got) != string(want[1:]) {
		t.Error("wrong bytes")
	}
}

// TestSmallUploadsTakeLittle holds thousands of uploads of ten bytes open.
func TestSmallUploadsTakeLittle(t *testing.T) {
	p := newPlace(t, 64<<20)
	for i := range 4000 {
		u, err := p.NewUpload(t.Context())
		if err != nil {
			t.Fatalf("upload %d: %v", i, err)
		}
		defer u.Close()
		if _, err := u.Write(t.Context(), []byte("ten bytes.")); err != nil {
			t.Fatalf("upload %d: %v", i, err)
		}
	}
}

// TestASmallUploadNeedsLittleRoom begins an upload where less is free than a large
// one's buffer takes.
func TestASmallUploadNeedsLittleRoom(t *testing.T) {
	p := newPlace(t, 2*workingBuffer+mediumBuffer/2)
	for range 2 {
		large, err := p.NewUpload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer large.Close()
		if _, err := large.Write(t.Context(), random(1, workingBuffer)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range mediumBuffer / 2 / smallBuffer {
		u, err := p.NewUpload(t.Context())
		if err != nil {
			t.Fatalf("upload %d: %v", i, err)
		}
		defer u.Close()
	}
	if _, err := p.NewUpload(t.Context()); !errors.Is(err, ErrNoMemory) {
		t.Errorf("an upload beyond the budget: %v", err)
	}
}

// TestNoBufferIsHeldDuringACommit looks at the memory in use while uploads are
// being published.
func TestNoBufferIsHeldDuringACommit(t *testing.T) {
	p := newPlace(t, 64<<20)
	for _, size := range []int{10, 3 << 20, 20 << 20} {
		u, err := p.NewUpload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		if _, err := u.Write(t.Context(), random(1, size)); err != nil {
			t.Fatal(err)
		}
		_, err = u.Finish(t.Context(), func(d *Draft) error {
			if held := p.Held(); held != 0 {
				t.Errorf("an upload of %d bytes holds %d while it is published", size, held)
			}
			return p.commit(d)
		})
		if err != nil {
			t.Error(err)
		}
	}
}
