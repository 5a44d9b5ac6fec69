package slatetest

import (
	"fmt"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// EncodeManifest returns the bytes of a .manifest object that decodes to m, in
// m's format version. As SlateDB does, it writes zero for the ID inside. It
// panics when m cannot be written in its version: version 1 has neither
// segments nor views with IDs of their own, and there are no others than 1 and 2.
func EncodeManifest(m *slatedb.Manifest) []byte {
	e := newEncoder()
	switch m.FormatVersion {
	case 1:
		return e.finish(1, e.manifestV1(m))
	case 2:
		return e.finish(2, e.manifestV2(m))
	default:
		panic(fmt.Sprintf("slatetest: there is no manifest version %d", m.FormatVersion))
	}
}

func (e *encoder) manifestV1(m *slatedb.Manifest) offset {
	if len(m.Segments) > 0 || m.SegmentExtractor != "" {
		panic("slatetest: a manifest of version 1 has no segments")
	}
	external := vectorOf(e, m.ExternalDBs, e.externalDB)
	lastCompacted := e.optionalULID(m.Root.LastCompactedL0)
	l0 := vectorOf(e, m.Root.L0, e.viewV1)
	runs := vectorOf(e, m.Root.SortedRuns, func(r *slatedb.SortedRun) offset {
		ssts := vectorOf(e, r.SSTs, e.viewV1)
		fb.SortedRunStart(e.b)
		fb.SortedRunAddId(e.b, r.ID)
		fb.SortedRunAddSsts(e.b, ssts)
		return fb.SortedRunEnd(e.b)
	})
	checkpoints := vectorOf(e, m.Checkpoints, e.checkpoint)
	uri := e.text(m.WALObjectStoreURI)

	fb.ManifestV1Start(e.b)
	fb.ManifestV1AddExternalDbs(e.b, external)
	fb.ManifestV1AddInitialized(e.b, m.Initialized)
	fb.ManifestV1AddWriterEpoch(e.b, m.WriterEpoch)
	fb.ManifestV1AddCompactorEpoch(e.b, m.CompactorEpoch)
	fb.ManifestV1AddReplayAfterWalId(e.b, m.ReplayAfterWALID)
	fb.ManifestV1AddWalIdLastSeen(e.b, m.WALIDLastSeen)
	fb.ManifestV1AddL0LastCompacted(e.b, lastCompacted)
	fb.ManifestV1AddL0(e.b, l0)
	fb.ManifestV1AddCompacted(e.b, runs)
	fb.ManifestV1AddLastL0ClockTick(e.b, m.LastL0ClockTick)
	fb.ManifestV1AddCheckpoints(e.b, checkpoints)
	fb.ManifestV1AddLastL0Seq(e.b, m.LastL0Seq)
	fb.ManifestV1AddWalObjectStoreUri(e.b, uri)
	fb.ManifestV1AddRecentSnapshotMinSeq(e.b, m.RecentSnapshotMinSeq)
	return fb.ManifestV1End(e.b)
}

func (e *encoder) manifestV2(m *slatedb.Manifest) offset {
	external := vectorOf(e, m.ExternalDBs, e.externalDB)
	ssts := vectorOf(e, distinctSSTs(m), e.sstV2)
	lastCompacted := e.optionalULID(m.Root.LastCompactedL0)
	l0, runs := e.tree(&m.Root)
	segments := vectorOf(e, m.Segments, e.segment)
	checkpoints := vectorOf(e, m.Checkpoints, e.checkpoint)
	extractor := e.text(m.SegmentExtractor)

	fb.ManifestV2Start(e.b)
	fb.ManifestV2AddExternalDbs(e.b, external)
	fb.ManifestV2AddInitialized(e.b, m.Initialized)
	fb.ManifestV2AddWriterEpoch(e.b, m.WriterEpoch)
	fb.ManifestV2AddCompactorEpoch(e.b, m.CompactorEpoch)
	fb.ManifestV2AddReplayAfterWalId(e.b, m.ReplayAfterWALID)
	fb.ManifestV2AddWalIdLastSeen(e.b, m.WALIDLastSeen)
	fb.ManifestV2AddLastCompactedL0SstViewId(e.b, lastCompacted)
	fb.ManifestV2AddSsts(e.b, ssts)
	fb.ManifestV2AddL0(e.b, l0)
	fb.ManifestV2AddCompacted(e.b, runs)
	fb.ManifestV2AddLastL0ClockTick(e.b, m.LastL0ClockTick)
	fb.ManifestV2AddCheckpoints(e.b, checkpoints)
	fb.ManifestV2AddLastL0Seq(e.b, m.LastL0Seq)
	fb.ManifestV2AddRecentSnapshotMinSeq(e.b, m.RecentSnapshotMinSeq)
	if len(m.Segments) > 0 {
		fb.ManifestV2AddSegments(e.b, segments)
	}
	fb.ManifestV2AddSegmentExtractorName(e.b, extractor)
	return fb.ManifestV2End(e.b)
}

// distinctSSTs returns every SST that the manifest shows, once.
func distinctSSTs(m *slatedb.Manifest) []*slatedb.SST {
	var ssts []*slatedb.SST
	seen := map[ulid.ULID]bool{}
	for view := range m.AllSSTViews() {
		if !seen[view.SST.ID] {
			seen[view.SST.ID] = true
			ssts = append(ssts, view.SST)
		}
	}
	return ssts
}

func (e *encoder) tree(t *slatedb.Tree) (l0, runs offset) {
	l0 = vectorOf(e, t.L0, e.viewV2)
	runs = vectorOf(e, t.SortedRuns, func(r *slatedb.SortedRun) offset {
		ssts := vectorOf(e, r.SSTs, e.viewV2)
		fb.SortedRunV2Start(e.b)
		fb.SortedRunV2AddId(e.b, r.ID)
		fb.SortedRunV2AddSsts(e.b, ssts)
		return fb.SortedRunV2End(e.b)
	})
	return l0, runs
}

func (e *encoder) segment(s *slatedb.Segment) offset {
	prefix := e.b.CreateByteVector(s.Prefix)
	lastCompacted := e.optionalULID(s.LastCompactedL0)
	l0, runs := e.tree(&s.Tree)
	fb.SegmentStart(e.b)
	fb.SegmentAddPrefix(e.b, prefix)
	fb.SegmentAddLastCompactedL0SstViewId(e.b, lastCompacted)
	fb.SegmentAddL0(e.b, l0)
	fb.SegmentAddCompacted(e.b, runs)
	return fb.SegmentEnd(e.b)
}

func (e *encoder) externalDB(x *slatedb.ExternalDB) offset {
	path := e.b.CreateString(x.Path)
	source, final := e.uuid(x.SourceCheckpointID), e.optionalUUID(x.FinalCheckpointID)
	ids := vectorOf(e, x.SSTIDs, e.ulid)
	fb.ExternalDbStart(e.b)
	fb.ExternalDbAddPath(e.b, path)
	fb.ExternalDbAddSourceCheckpointId(e.b, source)
	fb.ExternalDbAddFinalCheckpointId(e.b, final)
	fb.ExternalDbAddSstIds(e.b, ids)
	return fb.ExternalDbEnd(e.b)
}

func (e *encoder) checkpoint(c *slatedb.Checkpoint) offset {
	id, name := e.uuid(c.ID), e.text(c.Name)
	fb.CheckpointStart(e.b)
	fb.CheckpointAddId(e.b, id)
	fb.CheckpointAddManifestId(e.b, c.ManifestID)
	fb.CheckpointAddCheckpointExpireTimeS(e.b, seconds(c.ExpireTime))
	fb.CheckpointAddCheckpointCreateTimeS(e.b, seconds(c.CreateTime))
	fb.CheckpointAddName(e.b, name)
	return fb.CheckpointEnd(e.b)
}
