package slatedb

import (
	"math"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// DecodeCompactions decodes the bytes of a .compactions object: a big-endian
// format version, 1 or 2, and a FlatBuffer. It keeps no reference to data, and
// fails as [DecodeManifest] does.
func DecodeCompactions(data []byte) (*Compactions, error) {
	const object = "compactions"
	version, buf, err := frame(object, data)
	if err != nil {
		return nil, err
	}
	if version != 1 && version != 2 {
		return nil, unsupported(object, version, 2)
	}
	if err := verify(object, buf, newSchema().compactions); err != nil {
		return nil, err
	}
	var t fb.CompactionsV1
	rootOf(buf, &t)
	var d compactionDecoder
	return &Compactions{
		FormatVersion:  version,
		CompactorEpoch: t.CompactorEpoch(),
		Recent:         vectorOf(t.RecentCompactionsLength(), t.RecentCompactions, d.compaction),
	}, nil
}

type compactionDecoder struct {
	sstDecoder
}

func (d *compactionDecoder) compaction(t *fb.Compaction) Compaction {
	c := Compaction{
		ID:      ulidOf(t.Id(nil)),
		Status:  CompactionStatus(t.Status()),
		Spec:    CompactionSpec{Kind: SpecKind(t.SpecType())},
		Outputs: vectorOf(t.OutputSstsLength(), t.OutputSsts, d.sst),
	}
	if w := t.Worker(nil); w != nil {
		c.Worker = Worker{string(w.WorkerId()), unixMilli(w.LastHeartbeatMs())}
	}
	var spec, ctx flatbuffers.Table
	if t.Spec(&spec) {
		c.Spec = specOf(t.SpecType(), spec)
	}
	if t.CtxType() == fb.CompactionContextTieredCompactionContext && t.Ctx(&ctx) {
		var tiered fb.TieredCompactionContext
		tiered.Init(ctx.Bytes, ctx.Pos)
		c.RetentionMinSeq = tiered.RetentionMinSeq()
		c.Subcompactions = vectorOf(tiered.SubcompactionsLength(), tiered.Subcompactions, d.subcompaction)
	}
	return c
}

func (d *compactionDecoder) subcompaction(t *fb.Subcompaction) Subcompaction {
	return Subcompaction{
		Range:   *d.visible(t.Range(&d.rng)), // required, so verified to be there
		Outputs: vectorOf(t.OutputSstsLength(), t.OutputSsts, d.sst),
	}
}

// specOf decodes the spec of a job. Of an unknown kind it decodes no contents.
func specOf(kind fb.CompactionSpec, at flatbuffers.Table) CompactionSpec {
	spec := CompactionSpec{Kind: SpecKind(kind)}
	switch kind {
	case fb.CompactionSpecTieredCompactionSpec:
		var t fb.TieredCompactionSpec
		t.Init(at.Bytes, at.Pos)
		spec.Segment = t.SegmentBytes()
		spec.SSTs = ulids(t.SstsLength(), t.Ssts)
		spec.L0ViewIDs = ulids(t.L0ViewIdsLength(), t.L0ViewIds)
		spec.SortedRuns = numbers(t.SortedRunsLength(), t.SortedRuns)
		spec.Destination = t.Destination()
	case fb.CompactionSpecDrainSegmentSpec:
		var t fb.DrainSegmentSpec
		t.Init(at.Bytes, at.Pos)
		spec.Segment = t.SegmentBytes()
		spec.L0ViewIDs = ulids(t.L0ViewIdsLength(), t.L0ViewIds)
		spec.SortedRuns = numbers(t.SortedRunsLength(), t.SortedRuns)
	}
	return spec
}

// unixMilli is the time ms milliseconds after the epoch, or the zero time if no
// clock could have shown that.
func unixMilli(ms uint64) time.Time {
	if ms == 0 || ms > math.MaxInt64 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
