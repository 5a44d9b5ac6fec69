package mirror_test

import (
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// localOnly reads and writes through the mirror, without a lock of its own.
type localOnly struct{ mirror.BasePolicy }

func (localOnly) ReadRoute(objectstore.Path, *objectstore.GetOptions) (mirror.ReadRoute, error) {
	return mirror.ReadLocal, nil
}

func (localOnly) PutRoute(objectstore.Path, *objectstore.PutOptions) (mirror.WriteRoute, error) {
	return mirror.WriteMirror, nil
}

func (localOnly) MultipartRoute(objectstore.Path, *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
	return mirror.MultipartMirror, nil
}

func benchMirror(b *testing.B, dir string, verify bool) *mirror.Mirror {
	b.Helper()
	m, err := mirror.Open(b.Context(), dir, memory.New(nil), localOnly{}, &mirror.Options{WithoutRemoteScan: true, Verify: verify})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
	})
	return m
}

const benchPath objectstore.Path = "path/to/db/compacted/01M05WR6EZ6ZF44TGFNN5HFTDD.sst"

// BenchmarkLocalGet compares ranged Gets with preads of the open file. The two
// take turns, and the ratio is of the best batches, so that a busy machine
// does not spoil it.
func BenchmarkLocalGet(b *testing.B) {
	const size = 64 << 20
	data := []byte(big(size))
	for _, length := range []int64{4 << 10, 64 << 10} {
		for _, verify := range []bool{false, true} {
			for _, readers := range []int{1, 8} {
				name := map[bool]string{false: "plain", true: "verified"}[verify]
				b.Run(fmt.Sprintf("%dKiB/%s/%dreaders", length>>10, name, readers), func(b *testing.B) {
					dir := b.TempDir()
					m := benchMirror(b, dir, verify)
					if _, err := m.Put(b.Context(), benchPath, objectstore.Bytes(data), nil); err != nil {
						b.Fatal(err)
					}
					files, err := filepath.Glob(filepath.Join(dir, "*.obj"))
					if err != nil || len(files) != 1 {
						b.Fatal(files, err)
					}
					file, err := os.Open(files[0])
					if err != nil {
						b.Fatal(err)
					}
					defer file.Close()
					pread := func(buffer []byte, off int64) error {
						_, err := file.ReadAt(buffer, off)
						return err
					}
					get := func(buffer []byte, off int64) error {
						result, err := m.Get(b.Context(), benchPath, &objectstore.GetOptions{Range: objectstore.Bounded(off, off+length)})
						if err != nil {
							return err
						}
						if _, err := io.ReadFull(result.Body, buffer); err != nil {
							return err
						}
						return result.Body.Close()
					}
					b.ReportAllocs()
					compare(b, readers, size, length, pread, get)
				})
			}
		}
	}
}

// compare runs batches of both reads and reports the ratio of the best ones.
func compare(b *testing.B, readers int, size, length int64, pread, get func([]byte, int64) error) {
	b.Helper()
	const batch = 4096
	run := func(read func([]byte, int64) error) time.Duration {
		begin := time.Now()
		var wg sync.WaitGroup
		for r := range readers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(r), 1))
				buffer := make([]byte, length)
				for range batch / readers {
					if err := read(buffer, random.Int64N(size/length)*length); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return time.Since(begin)
	}
	best := [2]time.Duration{1 << 62, 1 << 62}
	for b.Loop() {
		best[0] = min(best[0], run(pread))
		best[1] = min(best[1], run(get))
	}
	b.ReportMetric(float64(best[0].Nanoseconds())/batch, "pread-ns")
	b.ReportMetric(float64(best[1].Nanoseconds())/batch, "get-ns")
	b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPut compares a Mirror write with each of its halves: the remote
// alone, and the local file alone. They take turns, and the ratio is of the
// best ones.
func BenchmarkPut(b *testing.B) {
	for _, latency := range []time.Duration{0, 100 * time.Millisecond} {
		b.Run(fmt.Sprint("remote latency ", latency), func(b *testing.B) { benchmarkPut(b, latency) })
	}
}

func benchmarkPut(b *testing.B, latency time.Duration) {
	data := []byte(big(16 << 20))
	dir := b.TempDir()
	remote := newHookStore()
	remote.setHook(func(ctx context.Context, _ call) error { return mirror.SystemClock{}.Sleep(ctx, latency) })
	m, err := mirror.Open(b.Context(), b.TempDir(), remote, localOnly{}, &mirror.Options{WithoutRemoteScan: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
	}()
	runs := []func() error{
		func() error {
			_, err := remote.Put(b.Context(), benchPath, objectstore.Bytes(data), nil)
			return err
		},
		func() error {
			if err := os.WriteFile(filepath.Join(dir, "temp"), data, 0o666); err != nil {
				return err
			}
			return os.Rename(filepath.Join(dir, "temp"), filepath.Join(dir, "object"))
		},
		func() error {
			_, err := m.Put(b.Context(), benchPath, objectstore.Bytes(data), nil)
			return err
		},
	}
	best := []time.Duration{1 << 62, 1 << 62, 1 << 62}
	for b.Loop() {
		for i, run := range runs {
			begin := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(begin))
		}
	}
	b.ReportMetric(best[0].Seconds()*1000, "remote-ms")
	b.ReportMetric(best[1].Seconds()*1000, "local-ms")
	b.ReportMetric(best[2].Seconds()*1000, "mirror-ms")
	b.ReportMetric(float64(best[2])/float64(max(best[0], best[1])), "ratio")
}

// BenchmarkBuild opens a directory of MIRROR_BENCH_OBJECTS copies, 20,000 when
// it isn't set, and compares with listing and stat-ing it.
func BenchmarkBuild(b *testing.B) {
	objects := 20_000
	if n, err := strconv.Atoi(os.Getenv("MIRROR_BENCH_OBJECTS")); err == nil {
		objects = n
	}
	dir := b.TempDir()
	remote := memory.New(nil)
	open := func(ctx context.Context) *mirror.Mirror {
		m, err := mirror.Open(ctx, dir, remote, localOnly{}, &mirror.Options{WithoutRemoteScan: true})
		if err != nil {
			b.Fatal(err)
		}
		return m
	}
	m := open(b.Context())
	for i := range objects {
		path := objectstore.Path(fmt.Sprintf("path/to/db/compacted/01M05WR6EZ6ZF44TGF%08d.sst", i))
		if _, err := m.Put(b.Context(), path, objectstore.Bytes([]byte("data")), nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		b.Fatal(err)
	}
	remote = memory.New(nil)
	index := filepath.Join(dir, "INDEX")
	b.Run("list and stat", func(b *testing.B) {
		for b.Loop() {
			entries, err := os.ReadDir(dir)
			if err != nil {
				b.Fatal(err)
			}
			for _, entry := range entries {
				if _, err := entry.Info(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("with index", func(b *testing.B) {
		for b.Loop() {
			m := open(b.Context())
			if s := m.Handle().Stats().Startup; s.FromIndex != objects {
				b.Fatalf("%+v", s)
			}
			b.StopTimer()
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("without index", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := os.Remove(index); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			m := open(b.Context())
			b.StopTimer()
			if s := m.Handle().Stats().Startup; s.Recovered != objects || s.FromIndex != 0 {
				b.Fatalf("%+v", s)
			}
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("memory", func(b *testing.B) {
		for b.Loop() {
			before := heap()
			m := open(b.Context())
			b.ReportMetric(float64(heap()-before)/float64(objects), "B/object")
			if err := m.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// BenchmarkMD5Prefix is the cost that RFC 0034 asks about, beside that of
// opening the file that the name is for.
func BenchmarkMD5Prefix(b *testing.B) {
	b.Run("md5 of a parent path", func(b *testing.B) {
		parent := "/" + benchPath.Parent()
		for b.Loop() {
			sum := md5.Sum([]byte(parent))
			_ = fmt.Sprintf("%x", sum)
		}
	})
	b.Run("open and close", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "x")
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			file, err := vfs.OS{}.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			if err := file.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
