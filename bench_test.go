package stardust_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
)

// fillRoot creates count files in the root, at most MaxNodes.
func fillRoot(b *testing.B, db *stardust.DB, count int) []stardust.Record {
	digest := upload(b, db, []byte("bench")).String()
	var nodes strings.Builder
	nodes.WriteString("[")
	for i := range count {
		nodes.WriteString(`{name file-` + itoa(int64(100_000+i)) + ` digest {#sha256 "` + digest + `"}} `)
	}
	return create(b, db, nodes.String()+"]")
}

func BenchmarkChildren(b *testing.B) {
	db := open(b)
	fillRoot(b, db, stardust.MaxNodes)
	b.ReportAllocs()
	for b.Loop() {
		d, err := db.Objects().Children(0)
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/stardust.MaxNodes, "ns/record")
}

func BenchmarkLookup(b *testing.B) {
	db := open(b)
	records := fillRoot(b, db, stardust.MaxNodes)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d, err := db.Objects().Lookup(0, records[i*7919%len(records)].Name)
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

func BenchmarkCommits(b *testing.B) {
	for _, callers := range []int{1, 32} {
		b.Run(itoa(int64(callers))+" callers", func(b *testing.B) {
			db := open(b)
			var next atomic.Int64
			var group errgroup.Group
			for range callers {
				group.Go(func() error {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						made, err := db.Objects().Create(parse(b, `[{name d`+itoa(i)+`}]`))
						if err != nil {
							return err
						}
						made.Close()
					}
					return nil
				})
			}
			if err := group.Wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkUpload(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 128 << 20} {
		b.Run(itoa(int64(size)), func(b *testing.B) {
			db := open(b)
			data := randomBytes(7, size)
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				for j := 0; j < len(data); j += 4096 {
					data[j] = byte(i) ^ byte(j>>12) // new chunks every time
					data[j+1] = byte(i >> 8)
				}
				upload(b, db, data)
			}
		})
	}
}

// BenchmarkVerifiedRead reads a payload whole, and hashes every byte.
func BenchmarkVerifiedRead(b *testing.B) {
	db := openFast(b, withObjects())
	data := randomBytes(7, 128<<20)
	digest := upload(b, db, data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		stream, err := db.Tree().Open(digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := stream.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
		if err := stream.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadAt reads 4 KiB at random: from the cache of verified chunks, and
// with a cache that holds next to nothing.
func BenchmarkReadAt(b *testing.B) {
	for name, budget := range map[string]int64{"cached": 256 << 20, "blocks": 9 << 20} {
		b.Run(name, func(b *testing.B) {
			options := withObjects()
			options.MemoryBudget = budget
			db := openFast(b, options)
			data := randomBytes(7, 64<<20)
			digest := upload(b, db, data)
			stream, err := db.Tree().Open(digest)
			if err != nil {
				b.Fatal(err)
			}
			defer stream.Close()
			p := make([]byte, 4096)
			for at := int64(0); at < int64(len(data)); at += 256 << 10 {
				if _, err := stream.ReadAt(p, at); err != nil {
					b.Fatal(err)
				}
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				if _, err := stream.ReadAt(p, rng.Int64N(int64(len(data)-len(p)))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
