package chunk_test

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"

	"github.com/stardustdb/stardust/internal/chunk"
)

func TestChunksHaveTheSizesOfTheSpec(t *testing.T) {
	for _, p := range payloads() {
		chunks := cutAll(p.data)
		for i, c := range chunks {
			last := i == len(chunks)-1
			if len(c) > chunk.Max || len(c) < 1 || len(c) < chunk.Min && !last {
				t.Errorf("%s: chunk %d of %d has %d bytes", p.name, i, len(chunks), len(c))
			}
		}
		if joined := bytes.Join(chunks, nil); !bytes.Equal(joined, p.data) {
			t.Errorf("%s: the chunks are not the payload", p.name)
		}
		if len(p.data) > 0 && len(p.data) <= chunk.Min && len(chunks) != 1 {
			t.Errorf("%s: a payload of %d bytes has %d chunks", p.name, len(p.data), len(chunks))
		}
	}
}

func TestACutIsKnownOrWaitedFor(t *testing.T) {
	data := random(1, chunk.Max+1000)
	whole := chunk.Cut(data, true)
	for n := 0; n <= len(data); n += 10007 {
		switch got := chunk.Cut(data[:n], false); {
		case n > whole && got != whole:
			t.Fatalf("with %d bytes: %d, want %d", n, got, whole)
		case n <= whole && got != 0:
			t.Fatalf("with %d bytes, before the cut at %d: %d, want 0", n, whole, got)
		}
	}
	if got := chunk.Cut(make([]byte, chunk.Max), false); got == 0 {
		t.Fatal("no cut in the largest chunk")
	}
}

// The library's own reading of a stream must agree with our way of calling it.
func TestCutsAreTheLibrarysOwn(t *testing.T) {
	for _, p := range payloads() {
		if len(p.data) == 0 {
			continue
		}
		c, err := chunkers.NewChunker("fastcdc-v1.0.0", bytes.NewReader(p.data), &chunkers.ChunkerOpts{
			MinSize: chunk.Min, NormalSize: chunk.Normal, MaxSize: chunk.Max,
		})
		if err != nil {
			t.Fatal(err)
		}
		var want [][]byte
		for err == nil {
			var piece []byte
			if piece, err = c.Next(); len(piece) > 0 {
				want = append(want, append([]byte{}, piece...))
			}
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if got := cutAll(p.data); describe("", got) != describe("", want) {
			t.Errorf("%s: cut differently than by the library", p.name)
		}
	}
}

func TestAnInsertionChangesFewChunks(t *testing.T) {
	list := make(map[string][][]byte)
	for _, p := range payloads() {
		list[p.name] = cutAll(p.data)
	}
	known := make(map[string]bool)
	for _, c := range list["stream-1"] {
		known[string(c)] = true
	}
	fresh := 0
	for _, c := range list["stream-1-with-4096-inserted"] {
		if !known[string(c)] {
			fresh++
		}
	}
	if fresh == 0 || fresh > 3 {
		t.Errorf("4096 inserted bytes make %d new chunks", fresh)
	}
}

func TestGoroutinesCutAlike(t *testing.T) {
	data := random(5, 6<<20)
	want := describe("", cutAll(data))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := describe("", cutAll(data)); got != want {
				t.Error("cut differently at the same time")
			}
		})
	}
	wg.Wait()
}

func BenchmarkCut(b *testing.B) {
	data := random(1, 64<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for rest := data; len(rest) > 0; {
			rest = rest[chunk.Cut(rest[:min(len(rest), chunk.Max)], true):]
		}
	}
}
