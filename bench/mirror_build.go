package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
)

// mirrorBuild opens a directory of many local copies, and compares with listing
// and stat-ing it.
func mirrorBuild(b *bench) error {
	dir := filepath.Join(b.dir, "build")
	defer os.RemoveAll(dir)
	if err := b.makeCopies(); err != nil {
		return err
	}
	index := filepath.Join(dir, "INDEX")
	var listed, indexed, recovered, bytes []float64
	for range b.rounds {
		took, err := timed(func() error { return listAndStat(dir) })
		if err != nil {
			return err
		}
		listed = append(listed, took.wall.Seconds())
		with, heap, err := b.openCopies(true)
		if err != nil {
			return err
		}
		indexed, bytes = append(indexed, with), append(bytes, heap)
		if err := os.Remove(index); err != nil {
			return err
		}
		without, _, err := b.openCopies(false)
		if err != nil {
			return err
		}
		recovered = append(recovered, without)
	}
	with, without := median(ratios(indexed, listed)), median(ratios(recovered, listed))
	details := func(ours []float64) string {
		return fmt.Sprintf("%d objects; %.2f and %.2f s", b.objects, median(ours), median(listed))
	}
	b.add(row{what: "Build with an index, time of list and stat", ratio: with, bar: 2, atMost: true, details: details(indexed)})
	b.add(row{what: "Build without an index, time of list and stat", ratio: without, bar: 6, atMost: true, details: details(recovered)})
	b.add(row{what: "memory of a mirror, bytes an object", ratio: median(bytes), bar: 300, atMost: true})
	return nil
}

// makeCopies writes so many small objects through a mirror.
func (b *bench) makeCopies() (err error) {
	m, err := b.openMirror("build", memstore.New(nil), localPolicy{}, false)
	if err != nil {
		return err
	}
	defer func() {
		if closed := m.Close(); err == nil {
			err = closed
		}
	}()
	group, ctx := errgroup.WithContext(b.ctx)
	group.SetLimit(2 * runtime.NumCPU())
	for i := range b.objects {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			path := objectstore.Path(fmt.Sprintf("path/to/db/compacted/01M05WR6EZ6ZF44TGF%08d.sst", i))
			_, err := m.Put(ctx, path, objectstore.Bytes([]byte("data")), nil)
			return err
		})
	}
	return group.Wait()
}

func listAndStat(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if _, err := entry.Info(); err != nil {
			return err
		}
	}
	return nil
}

// openCopies opens the directory and returns the seconds that it took and the
// bytes of memory that each object takes from then on.
func (b *bench) openCopies(index bool) (seconds, bytesEach float64, err error) {
	before := liveHeap()
	var m *mirror.Mirror
	took, err := timed(func() (err error) {
		m, err = b.openMirror("build", memstore.New(nil), localPolicy{}, false)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	heap := float64(liveHeap()-before) / float64(b.objects)
	startup := m.Handle().Stats().Startup
	err = m.Close()
	if err == nil && (startup.Recovered != b.objects || index != (startup.FromIndex == b.objects)) {
		err = fmt.Errorf("the directory opened with %+v, want %d objects", startup, b.objects)
	}
	return took.wall.Seconds(), heap, err
}

// liveHeap returns the bytes of what is reachable.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // the first one only began to finalize
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
