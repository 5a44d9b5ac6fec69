package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

// slateObserve measures what a manifest of 10,000 SSTs, all of them local, costs
// before its caller gets it.
func slateObserve(b *bench) error {
	const ssts = 10_000
	manifest := wideManifest(ssts)
	remote := memstore.New(nil)
	for _, id := range manifest.SSTs() {
		if _, err := remote.Put(b.ctx, slatedb.SSTPath("db", id), objectstore.Bytes([]byte("x")), nil); err != nil {
			return err
		}
	}
	policy := slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true})
	m, err := b.openMirror("observe", remote, policy, false)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Join(b.dir, "observe"))
	defer m.Close()
	data := slatetest.EncodeManifest(manifest)
	id := uint64(0)
	observe := func() error {
		id++
		return policy.Observe(b.ctx, slatedb.ManifestPath("db", id), data, m.Handle())
	}
	if err := observe(); err != nil { // downloads all
		return err
	}
	took, err := turns(b.ctx, 10*b.rounds, step{work: observe})
	if err != nil {
		return err
	}
	b.add(row{
		what: "Observe of a manifest of 10,000 local SSTs, ms", ratio: median(took[0].wall) * 1e3, bar: 10, atMost: true,
		details: fmt.Sprintf("%s of manifest", bytesText(int64(len(data)))),
	})
	return nil
}

// wideManifest returns a manifest of n SSTs, a tenth of them in L0.
func wideManifest(n int) *slatedb.Manifest {
	m := &slatedb.Manifest{FormatVersion: 1, Initialized: true}
	run := slatedb.SortedRun{ID: 1}
	for i := range n {
		sst := &slatedb.SST{ID: ulid.ULID{1, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}, FormatVersion: 1}
		sst.Info.FirstEntry = fmt.Appendf(nil, "key%020d", i)
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
