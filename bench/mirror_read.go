package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
)

const (
	// readObject is the size of the object that the reads of these cases are
	// from, small enough to stay in the page cache.
	readObject = 64 << 20
	readPath   = objectstore.Path("db/compacted/01M05WR6EZ6ZF44TGFNN5HFTDD.sst")
)

// readAt reads len(p) bytes at an offset of the object.
type readAt func(p []byte, off int64) error

// localObject is an object in a mirror, and its file.
type localObject struct {
	mirror *mirror.Mirror
	file   *os.File
}

// openLocalObject mirrors an object of readObject bytes.
func (b *bench) openLocalObject(dir string, policy mirror.Policy, verify bool) (*localObject, error) {
	m, err := b.openMirror(dir, memstore.New(nil), policy, verify)
	if err != nil {
		return nil, err
	}
	o := &localObject{mirror: m}
	if _, err = m.Put(b.ctx, readPath, objectstore.Bytes(random(4, readObject)), nil); err == nil {
		var files []string
		if files, err = filepath.Glob(filepath.Join(b.dir, dir, "*.obj")); err == nil && len(files) != 1 {
			err = fmt.Errorf("%d local copies, want one", len(files))
		}
		if err == nil {
			o.file, err = os.Open(files[0])
		}
	}
	if err != nil {
		_ = m.Close()
		return nil, err
	}
	return o, nil
}

func (o *localObject) close() {
	_ = o.file.Close()
	_ = o.mirror.Close()
}

func (o *localObject) pread(p []byte, off int64) error {
	_, err := o.file.ReadAt(p, off)
	return err
}

// get returns the same read through the mirror.
func (b *bench) get(o *localObject) readAt {
	return func(p []byte, off int64) error {
		return b.getRange(o, p, &objectstore.GetOptions{Range: objectstore.Bounded(off, off+int64(len(p)))})
	}
}

func (b *bench) getRange(o *localObject, p []byte, options *objectstore.GetOptions) error {
	result, err := o.mirror.Get(b.ctx, readPath, options)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(result.Body, p); err != nil {
		return err
	}
	return result.Body.Close()
}

// checksum is what verification must compute of a read at least.
func checksum(p []byte, _ int64) error {
	crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli))
	return nil
}

// batch returns a step: so many reads of a length at random offsets,
// by several readers together.
func batch(read readAt, readers, reads int, length int64) step {
	return step{work: func() error {
		var group errgroup.Group
		for r := range readers {
			group.Go(func() error {
				source := rand.New(rand.NewPCG(uint64(r), 1))
				p := make([]byte, length)
				for range reads / readers {
					if err := read(p, source.Int64N(readObject/length)*length); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return group.Wait()
	}}
}

// mirrorRead compares local reads through the mirror with pread.
func mirrorRead(b *bench) error {
	for _, verify := range []bool{false, true} {
		if err := b.readRanges(verify); err != nil {
			return err
		}
	}
	return b.readOverhead()
}

func (b *bench) readRanges(verify bool) error {
	name, bars := "", map[int64]float64{64 << 10: 1.2, 4 << 10: 1.5}
	if verify {
		name, bars = ", verified", map[int64]float64{64 << 10: 1.5, 4 << 10: 3}
	}
	o, err := b.openLocalObject(fmt.Sprintf("read-%t", verify), localPolicy{}, verify)
	if err != nil {
		return err
	}
	defer o.close()
	for _, length := range []int64{64 << 10, 4 << 10} {
		reads := int(512 << 20 / length) // a batch outlasts a time slice
		get := b.get(o)
		took, err := turns(b.ctx, 5*b.rounds,
			batch(o.pread, 1, reads, length), batch(get, 1, reads, length),
			batch(o.pread, 8, reads, length), batch(get, 8, reads, length),
			batch(checksum, 1, reads, length))
		if err != nil {
			return err
		}
		pread, got := took[0].wall, took[1].wall
		scale := ratios(ratios(got, took[3].wall), ratios(pread, took[2].wall))
		ratio := median(ratios(got, pread))
		each := func(seconds []float64) float64 { return median(seconds) / float64(reads) * 1e6 }
		b.add(row{
			what: fmt.Sprintf("local Get of %s%s, time of pread", bytesText(length), name), ratio: ratio, bar: bars[length], atMost: true,
			details: fmt.Sprintf("%.2f and %.2f µs; CRC32C alone %.2f", each(got), each(pread), each(took[4].wall)),
		})
		b.add(row{
			what: "the same by 8 readers: gain, of pread's gain", ratio: median(scale), bar: 0.8,
			details: fmt.Sprintf("%.0f and %.0f k reads/s", 1e3/each(took[3].wall), 1e3/each(took[2].wall)),
		})
	}
	return nil
}

// readOverhead measures what a read costs beyond pread with SlateDB's policy,
// which takes paths apart, in time and in allocations.
func (b *bench) readOverhead() error {
	const reads, length = 65536, 4 << 10
	policy := slatedb.NewPolicy(&slatedb.PolicyOptions{Root: new(objectstore.Path("db")), PathTags: true, WithoutCompactionsPoll: true})
	o, err := b.openLocalObject("read-slatedb", policy, false)
	if err != nil {
		return err
	}
	defer o.close()
	took, err := turns(b.ctx, 5*b.rounds, batch(o.pread, 1, reads, length), batch(b.get(o), 1, reads, length))
	if err != nil {
		return err
	}
	var beyond []float64
	for i := range took[0].wall {
		beyond = append(beyond, (took[1].wall[i]-took[0].wall[i])/reads*1e6)
	}
	// The caller's own options are not the mirror's to answer for.
	options := &objectstore.GetOptions{Range: objectstore.Bounded(0, length)}
	p := make([]byte, length)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range reads {
		if err := b.getRange(o, p, options); err != nil {
			return err
		}
	}
	runtime.ReadMemStats(&after)
	b.add(row{
		what: "local Get with SlateDB's policy beyond pread, µs", ratio: median(beyond), bar: 2, atMost: true,
		details: fmt.Sprintf("%.2f and %.2f µs", median(took[1].wall)/reads*1e6, median(took[0].wall)/reads*1e6),
	})
	b.add(row{what: "allocations of such a Get", ratio: float64(after.Mallocs-before.Mallocs) / reads, bar: 3, atMost: true})
	return nil
}
