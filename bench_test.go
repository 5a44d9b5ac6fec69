package stardust_test

import (
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
