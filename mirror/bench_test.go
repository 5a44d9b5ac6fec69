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
	"testing"

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
	m, err := mirror.NewBuilder(dir, memory.New(nil), localOnly{}).WithoutRemoteScan().WithVerification(verify).Build(b.Context())
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

// BenchmarkLocalGet compares a ranged Get with a pread of the open file.
func BenchmarkLocalGet(b *testing.B) {
	const size = 64 << 20
	data := []byte(big(size))
	for _, length := range []int64{4 << 10, 64 << 10} {
		offsets := make([]int64, 4096)
		random := rand.New(rand.NewPCG(1, 1))
		for i := range offsets {
			offsets[i] = random.Int64N(size/length) * length
		}
		for _, verify := range []string{"pread", "plain", "verified"} {
			for _, readers := range []int{1, 8} {
				b.Run(fmt.Sprintf("%dKiB/%dreaders/%s", length>>10, readers, verify), func(b *testing.B) {
					dir := b.TempDir()
					m := benchMirror(b, dir, verify == "verified")
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
					read := func(buffer []byte, off int64) error {
						if verify == "pread" {
							_, err := file.ReadAt(buffer, off)
							return err
						}
						result, err := m.Get(b.Context(), benchPath, &objectstore.GetOptions{Range: objectstore.Bounded(off, off+length)})
						if err != nil {
							return err
						}
						if _, err := io.ReadFull(result.Body, buffer); err != nil {
							return err
						}
						return result.Body.Close()
					}
					b.SetBytes(length)
					b.ReportAllocs()
					b.SetParallelism(readers / runtime.GOMAXPROCS(0))
					b.ResetTimer()
					if readers == 1 {
						buffer := make([]byte, length)
						for i := 0; b.Loop(); i++ {
							if err := read(buffer, offsets[i%len(offsets)]); err != nil {
								b.Fatal(err)
							}
						}
						return
					}
					b.RunParallel(func(pb *testing.PB) {
						buffer := make([]byte, length)
						for i := rand.IntN(len(offsets)); pb.Next(); i++ {
							if err := read(buffer, offsets[i%len(offsets)]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
		}
	}
}

// BenchmarkPut compares a Mirror write with each of its halves.
func BenchmarkPut(b *testing.B) {
	data := []byte(big(16 << 20))
	b.Run("remote", func(b *testing.B) {
		remote := memory.New(nil)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := remote.Put(b.Context(), benchPath, objectstore.Bytes(data), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("local", func(b *testing.B) {
		dir := b.TempDir()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := os.WriteFile(filepath.Join(dir, "temp"), data, 0o666); err != nil {
				b.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "temp"), filepath.Join(dir, "object")); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mirror", func(b *testing.B) {
		m := benchMirror(b, b.TempDir(), false)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := m.Put(b.Context(), benchPath, objectstore.Bytes(data), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
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
		m, err := mirror.NewBuilder(dir, remote, localOnly{}).WithoutRemoteScan().Build(ctx)
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
