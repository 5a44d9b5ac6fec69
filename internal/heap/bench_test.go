package heap_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stardustdb/stardust/internal/heap"
)

// benchChunks is how many chunks of 1 MiB the benchmarks append: 64, or what
// STARDUST_BENCH_MIB says.
func benchChunks() int {
	if n, err := strconv.Atoi(os.Getenv("STARDUST_BENCH_MIB")); err == nil {
		return n
	}
	return 64
}

// BenchmarkAppend appends chunks of 1 MiB and makes them durable. "raw" is a plain
// file: the limit.
func BenchmarkAppend(b *testing.B) {
	chunks, data := benchChunks(), random(1, 1<<20)
	b.Run("raw", func(b *testing.B) {
		b.SetBytes(int64(chunks) << 20)
		for b.Loop() {
			f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
			if err != nil {
				b.Fatal(err)
			}
			for i := range chunks {
				data[i%len(data)]++
				if _, err := f.WriteAt(data, int64(i)<<20); err != nil {
					b.Fatal(err)
				}
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = f.Close()
			_ = os.Remove(f.Name())
			b.StartTimer()
		}
	})
	b.Run("heap", func(b *testing.B) {
		b.SetBytes(int64(chunks) << 20)
		for b.Loop() {
			b.StopTimer()
			c := file(b, nil)
			h := heap.New(c)
			b.StartTimer()
			for i := range chunks {
				data[i%len(data)]++
				if _, err := h.Append([32]byte{byte(i)}, data); err != nil {
					b.Fatal(err)
				}
			}
			if err := h.Sync(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			h.Close()
			_ = c.Close()
			_ = os.Remove(c.Path())
			b.StartTimer()
		}
	})
}

func BenchmarkRead(b *testing.B) {
	h := heap.New(file(b, nil))
	data := random(1, 1<<20)
	digest := sha256.Sum256(data)
	var locs []heap.Location
	for range 64 {
		locs = append(locs, appendTo(b, h, data))
	}
	p := make([]byte, 1<<20)
	b.Run("chunk", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for i := 0; b.Loop(); i++ {
			if err := h.Read(locs[i%len(locs)], digest, p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("equal", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for i := 0; b.Loop(); i++ {
			if same, err := h.Equal(locs[i%len(locs)], data); err != nil || !same {
				b.Fatal(same, err)
			}
		}
	})
	b.Run("sha256 alone", func(b *testing.B) {
		b.SetBytes(1 << 20)
		for b.Loop() {
			_ = sha256.Sum256(data)
		}
	})
	b.Run("4096 at random", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(1, 1))
		for b.Loop() {
			if err := h.ReadAt(locs[rng.IntN(len(locs))], digest, p[:4096], rng.Int64N(1<<20-4096)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
