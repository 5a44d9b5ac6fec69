package slatedb_test

import (
	"fmt"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

// bigManifest returns a manifest with n SSTs, a tenth of them in L0.
func bigManifest(id uint64, version uint16, n int) *slatedb.Manifest {
	m := &slatedb.Manifest{ID: id, FormatVersion: version, Initialized: true}
	run := slatedb.SortedRun{ID: 1}
	for i := range n {
		sst := &slatedb.SST{ID: ulid.ULID{1, 12: byte(i >> 24), 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}, FormatVersion: 1}
		sst.Info.FirstEntry, sst.Info.LastEntry = fmt.Appendf(nil, "key%020d", i), fmt.Appendf(nil, "key%020d", i+1)
		view := slatedb.SSTView{ID: sst.ID, SST: sst}
		if i%10 == 0 {
			m.Root.L0 = append(m.Root.L0, view)
		} else {
			run.SSTs = append(run.SSTs, view)
		}
	}
	m.Root.SortedRuns = []slatedb.SortedRun{run}
	return m
}

func BenchmarkDecodeManifest10000(b *testing.B) {
	for _, version := range []uint16{1, 2} {
		b.Run(fmt.Sprint("V", version), func(b *testing.B) {
			data := slatetest.EncodeManifest(bigManifest(1, version, 10_000))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := slatedb.DecodeManifest(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkObserveManifest10000 is what a manifest of 10,000 SSTs, all of them
// local, costs before its caller gets it: every iteration observes a newer one.
// The bar is 10 ms.
func BenchmarkObserveManifest10000(b *testing.B) {
	for _, checkpoints := range []int{0, 90} {
		b.Run(fmt.Sprint(checkpoints, "checkpoints"), func(b *testing.B) {
			const n = 10_000
			remote := memory.New(nil)
			big := bigManifest(1, 1, n)
			for i := range checkpoints {
				id := uint64(i + 1)
				put(b, remote, string(slatedb.ManifestPath("db", id)), slatetest.EncodeManifest(big))
				big.Checkpoints = append(big.Checkpoints, slatedb.Checkpoint{ID: [16]byte{byte(i)}, ManifestID: id})
			}
			for _, id := range big.SSTs() {
				put(b, remote, string(slatedb.SSTPath("db", id)), []byte("x"))
			}
			policy := slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true})
			m, err := mirror.Open(b.Context(), b.TempDir(), remote, policy, &mirror.Options{WithoutRemoteScan: true})
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			data := slatetest.EncodeManifest(big)
			observe := func(id uint64) {
				if err := policy.Observe(b.Context(), slatedb.ManifestPath("db", id), data, m.Handle()); err != nil {
					b.Fatal(err)
				}
			}
			id := uint64(1000)
			observe(id)
			b.ReportAllocs()
			for b.Loop() {
				id++
				observe(id)
			}
		})
	}
}
