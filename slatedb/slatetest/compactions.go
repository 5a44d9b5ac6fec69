package slatetest

import (
	"fmt"
	"time"

	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// EncodeCompactions returns the bytes of a .compactions object that decodes to
// cs, in its format version. It panics when there is no such version, or a spec
// is of a kind that SlateDB has not.
func EncodeCompactions(cs *slatedb.Compactions) []byte {
	if cs.FormatVersion != 1 && cs.FormatVersion != 2 {
		panic(fmt.Sprintf("slatetest: there is no compactions version %d", cs.FormatVersion))
	}
	e := newEncoder()
	recent := vectorOf(e, cs.Recent, e.compaction)
	fb.CompactionsV1Start(e.b)
	fb.CompactionsV1AddCompactorEpoch(e.b, cs.CompactorEpoch)
	fb.CompactionsV1AddRecentCompactions(e.b, recent)
	return e.finish(cs.FormatVersion, fb.CompactionsV1End(e.b))
}

func (e *encoder) compaction(c *slatedb.Compaction) offset {
	id, spec := e.ulid(&c.ID), e.spec(&c.Spec)
	outputs := e.outputs(c.Outputs)
	var ctx, worker offset
	if len(c.Subcompactions) > 0 || c.RetentionMinSeq != 0 {
		subs := vectorOf(e, c.Subcompactions, e.subcompaction)
		fb.TieredCompactionContextStart(e.b)
		fb.TieredCompactionContextAddSubcompactions(e.b, subs)
		fb.TieredCompactionContextAddRetentionMinSeq(e.b, c.RetentionMinSeq)
		ctx = fb.TieredCompactionContextEnd(e.b)
	}
	if c.Worker != (slatedb.Worker{}) {
		name := e.text(c.Worker.ID)
		fb.WorkerSpecStart(e.b)
		fb.WorkerSpecAddWorkerId(e.b, name)
		fb.WorkerSpecAddLastHeartbeatMs(e.b, milliseconds(c.Worker.LastHeartbeat))
		worker = fb.WorkerSpecEnd(e.b)
	}
	fb.CompactionStart(e.b)
	fb.CompactionAddId(e.b, id)
	fb.CompactionAddSpecType(e.b, fb.CompactionSpec(c.Spec.Kind))
	fb.CompactionAddSpec(e.b, spec)
	fb.CompactionAddStatus(e.b, fb.CompactionStatus(c.Status))
	fb.CompactionAddOutputSsts(e.b, outputs)
	fb.CompactionAddWorker(e.b, worker)
	if ctx != 0 {
		fb.CompactionAddCtxType(e.b, fb.CompactionContextTieredCompactionContext)
		fb.CompactionAddCtx(e.b, ctx)
	}
	return fb.CompactionEnd(e.b)
}

func (e *encoder) outputs(ssts []slatedb.SST) offset {
	return vectorOf(e, ssts, func(sst *slatedb.SST) offset { return e.sst(sst, nil) })
}

func (e *encoder) subcompaction(s *slatedb.Subcompaction) offset {
	keys, outputs := e.keyRange(&s.Range), e.outputs(s.Outputs)
	fb.SubcompactionStart(e.b)
	fb.SubcompactionAddRange(e.b, keys)
	fb.SubcompactionAddOutputSsts(e.b, outputs)
	return fb.SubcompactionEnd(e.b)
}

func (e *encoder) spec(s *slatedb.CompactionSpec) offset {
	l0, runs := vectorOf(e, s.L0ViewIDs, e.ulid), e.numbers(s.SortedRuns)
	switch s.Kind {
	case slatedb.SpecTiered:
		ssts, segment := vectorOf(e, s.SSTs, e.ulid), e.bytes(s.Segment)
		fb.TieredCompactionSpecStart(e.b)
		fb.TieredCompactionSpecAddSsts(e.b, ssts)
		fb.TieredCompactionSpecAddSortedRuns(e.b, runs)
		fb.TieredCompactionSpecAddL0ViewIds(e.b, l0)
		fb.TieredCompactionSpecAddSegment(e.b, segment)
		fb.TieredCompactionSpecAddDestination(e.b, s.Destination)
		return fb.TieredCompactionSpecEnd(e.b)
	case slatedb.SpecDrainSegment:
		segment := e.b.CreateByteVector(s.Segment)
		fb.DrainSegmentSpecStart(e.b)
		fb.DrainSegmentSpecAddSegment(e.b, segment)
		fb.DrainSegmentSpecAddL0ViewIds(e.b, l0)
		fb.DrainSegmentSpecAddSortedRuns(e.b, runs)
		return fb.DrainSegmentSpecEnd(e.b)
	default:
		panic(fmt.Sprintf("slatetest: there is no compaction spec of kind %v", s.Kind))
	}
}

func milliseconds(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixMilli())
}
