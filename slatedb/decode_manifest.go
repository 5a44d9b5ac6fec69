package slatedb

import (
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// DecodeManifest decodes the bytes of a .manifest object: a big-endian format
// version, 1 or 2, and a FlatBuffer. It keeps no reference to data.
//
// It returns a [*DecodeError] when data is cut, damaged or of another version;
// it never panics, and the memory it takes is bounded by a small multiple of
// the length of data. A field that a newer SlateDB added is ignored.
func DecodeManifest(data []byte) (*Manifest, error) {
	const object = "manifest"
	version, buf, err := frame(object, data)
	if err != nil {
		return nil, err
	}
	s := newSchema()
	switch version {
	case 1:
		if err := verify(object, buf, s.manifestV1); err != nil {
			return nil, err
		}
		return manifestV1(buf), nil
	case 2:
		if err := verify(object, buf, s.manifestV2); err != nil {
			return nil, err
		}
		return manifestV2(buf)
	default:
		return nil, unsupported(object, version, 2)
	}
}

func manifestV1(buf []byte) *Manifest {
	var t fb.ManifestV1
	rootOf(buf, &t)
	// Without views of its own, version 1 has one view of each SST, which has
	// the SST's ID.
	var d sstDecoder
	view := func(s *fb.CompactedSsTable) SSTView {
		sst := d.keep(d.sst(s))
		return SSTView{sst.ID, sst, d.visible(s.VisibleRange(&d.rng))}
	}
	run := func(r *fb.SortedRun) SortedRun {
		return SortedRun{r.Id(), vectorOf(r.SstsLength(), r.Ssts, view)}
	}
	return &Manifest{
		FormatVersion:        1,
		Initialized:          t.Initialized(),
		WriterEpoch:          t.WriterEpoch(),
		CompactorEpoch:       t.CompactorEpoch(),
		ReplayAfterWALID:     t.ReplayAfterWalId(),
		WALIDLastSeen:        t.WalIdLastSeen(),
		LastL0ClockTick:      t.LastL0ClockTick(),
		LastL0Seq:            t.LastL0Seq(),
		RecentSnapshotMinSeq: t.RecentSnapshotMinSeq(),
		WALObjectStoreURI:    string(t.WalObjectStoreUri()),
		Root: Tree{
			LastCompactedL0: ulidOf(t.L0LastCompacted(nil)),
			L0:              vectorOf(t.L0Length(), t.L0, view),
			SortedRuns:      vectorOf(t.CompactedLength(), t.Compacted, run),
		},
		ExternalDBs: vectorOf(t.ExternalDbsLength(), t.ExternalDbs, externalDB),
		Checkpoints: vectorOf(t.CheckpointsLength(), t.Checkpoints, checkpoint),
	}
}

func manifestV2(buf []byte) (*Manifest, error) {
	var t fb.ManifestV2
	rootOf(buf, &t)
	views := viewDecoder{object: "manifest"}
	views.index(vectorOf(t.SstsLength(), t.Ssts, views.sstV2))
	m := &Manifest{
		FormatVersion:        2,
		Initialized:          t.Initialized(),
		WriterEpoch:          t.WriterEpoch(),
		CompactorEpoch:       t.CompactorEpoch(),
		ReplayAfterWALID:     t.ReplayAfterWalId(),
		WALIDLastSeen:        t.WalIdLastSeen(),
		LastL0ClockTick:      t.LastL0ClockTick(),
		LastL0Seq:            t.LastL0Seq(),
		RecentSnapshotMinSeq: t.RecentSnapshotMinSeq(),
		SegmentExtractor:     string(t.SegmentExtractorName()),
		Root: Tree{
			LastCompactedL0: ulidOf(t.LastCompactedL0SstViewId(nil)),
			L0:              vectorOf(t.L0Length(), t.L0, views.view),
			SortedRuns:      vectorOf(t.CompactedLength(), t.Compacted, views.run),
		},
		Segments:    vectorOf(t.SegmentsLength(), t.Segments, views.segment),
		ExternalDBs: vectorOf(t.ExternalDbsLength(), t.ExternalDbs, externalDB),
		Checkpoints: vectorOf(t.CheckpointsLength(), t.Checkpoints, checkpoint),
	}
	sortSegments(m.Segments)
	if views.err != nil {
		return nil, views.err
	}
	return m, nil
}

// viewDecoder decodes the views of version 2, which refer to SSTs by ID.
type viewDecoder struct {
	sstDecoder
	object string
	sstID  fb.Ulid
	ssts   map[ulid.ULID]*SST
	err    error // the first view of an SST that is not there
}

func (d *viewDecoder) index(ssts []SST) {
	d.ssts = make(map[ulid.ULID]*SST, len(ssts))
	for i := range ssts {
		d.ssts[ssts[i].ID] = &ssts[i]
	}
}

func (d *viewDecoder) view(t *fb.CompactedSsTableView) SSTView {
	id := ulidOf(t.SstId(&d.sstID))
	sst, known := d.ssts[id]
	if !known && d.err == nil {
		position := versionSize + int(t.Table().Pos)
		d.err = &DecodeError{d.object, "CompactedSsTableView", position, fmt.Errorf("view of SST %v, which is not listed", id)}
	}
	return SSTView{ulidOf(t.Id(&d.id)), sst, d.visible(t.VisibleRange(&d.rng))}
}

func (d *viewDecoder) run(t *fb.SortedRunV2) SortedRun {
	return SortedRun{t.Id(), vectorOf(t.SstsLength(), t.Ssts, d.view)}
}

func (d *viewDecoder) segment(t *fb.Segment) Segment {
	return Segment{t.PrefixBytes(), Tree{
		LastCompactedL0: ulidOf(t.LastCompactedL0SstViewId(nil)),
		L0:              vectorOf(t.L0Length(), t.L0, d.view),
		SortedRuns:      vectorOf(t.CompactedLength(), t.Compacted, d.run),
	}}
}

func externalDB(t *fb.ExternalDb) ExternalDB {
	return ExternalDB{
		Path:               string(t.Path()),
		SourceCheckpointID: uuidOf(t.SourceCheckpointId(nil)),
		FinalCheckpointID:  uuidOf(t.FinalCheckpointId(nil)),
		SSTIDs:             ulids(t.SstIdsLength(), t.SstIds),
	}
}

func checkpoint(t *fb.Checkpoint) Checkpoint {
	c := Checkpoint{
		ID:         uuidOf(t.Id(nil)),
		ManifestID: t.ManifestId(),
		CreateTime: time.Unix(int64(t.CheckpointCreateTimeS()), 0).UTC(),
		Name:       string(t.Name()),
	}
	if s := t.CheckpointExpireTimeS(); s != 0 {
		c.ExpireTime = time.Unix(int64(s), 0).UTC()
	}
	return c
}
