package slatetest_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

func sst(n byte) *slatedb.SST {
	return &slatedb.SST{
		ID:            ulid.ULID{1, 15: n},
		FormatVersion: 2,
		Info: slatedb.SSTInfo{
			FirstEntry: []byte{'a', n}, LastEntry: []byte{'b', n},
			IndexOffset: 1, IndexLen: 2, FilterOffset: 3, FilterLen: 4, Compression: 4,
		},
	}
}

func view(id byte, sst *slatedb.SST) slatedb.SSTView {
	return slatedb.SSTView{ID: ulid.ULID{2, 15: id}, SST: sst, Visible: &slatedb.KeyRange{
		Start: slatedb.Bound{Kind: slatedb.Included, Key: []byte("k")},
		End:   slatedb.Bound{Kind: slatedb.Unbounded},
	}}
}

// manifestV2 uses every field that version 2 has.
func manifestV2() *slatedb.Manifest {
	shared := sst(1)
	return &slatedb.Manifest{
		FormatVersion: 2, Initialized: true,
		WriterEpoch: 1, CompactorEpoch: 2, ReplayAfterWALID: 3, WALIDLastSeen: 4,
		LastL0ClockTick: -5, LastL0Seq: 6, RecentSnapshotMinSeq: 7, SegmentExtractor: "day",
		Root: slatedb.Tree{
			LastCompactedL0: ulid.ULID{9},
			L0:              []slatedb.SSTView{view(1, shared), view(2, shared)},
			SortedRuns:      []slatedb.SortedRun{{ID: 3, SSTs: []slatedb.SSTView{view(3, sst(2))}}, {ID: 1}},
		},
		Segments: []slatedb.Segment{
			{Prefix: []byte("2026-12-01"), Tree: slatedb.Tree{L0: []slatedb.SSTView{view(4, sst(3))}}},
			{Prefix: []byte{0xff, 0}, Tree: slatedb.Tree{SortedRuns: []slatedb.SortedRun{{ID: 8, SSTs: []slatedb.SSTView{view(5, sst(4))}}}}},
		},
		ExternalDBs: []slatedb.ExternalDB{
			{Path: "parent", SourceCheckpointID: uuid.UUID{1}, FinalCheckpointID: uuid.UUID{2}, SSTIDs: []ulid.ULID{{3}, {4}}},
			{Path: "other/parent", SourceCheckpointID: uuid.UUID{5}},
		},
		Checkpoints: []slatedb.Checkpoint{
			{ID: uuid.UUID{6}, ManifestID: 7, CreateTime: time.Unix(8, 0).UTC(), ExpireTime: time.Unix(9, 0).UTC(), Name: "nightly"},
			{ID: uuid.UUID{7}, ManifestID: 8, CreateTime: time.Unix(8, 0).UTC()},
		},
	}
}

func manifestV1() *slatedb.Manifest {
	m := manifestV2()
	m.FormatVersion = 1
	m.Segments, m.SegmentExtractor = nil, ""
	m.WALObjectStoreURI = "s3://wal"
	for view := range m.AllSSTViews() {
		view.ID = view.SST.ID
	}
	return m
}

func compactions(version uint16) *slatedb.Compactions {
	cs := &slatedb.Compactions{FormatVersion: version, CompactorEpoch: 4}
	for status := slatedb.StatusSubmitted; status <= slatedb.StatusScheduled; status++ {
		cs.Recent = append(cs.Recent, slatedb.Compaction{
			ID: ulid.ULID{byte(status)}, Status: status,
			Spec: slatedb.CompactionSpec{
				Kind: slatedb.SpecTiered, Segment: []byte("seg"), SSTs: []ulid.ULID{{1}},
				L0ViewIDs: []ulid.ULID{{2}, {3}}, SortedRuns: []uint32{4, 5}, Destination: 4,
			},
			Outputs: []slatedb.SST{*sst(10), *sst(11)},
			Subcompactions: []slatedb.Subcompaction{{
				Range:   slatedb.KeyRange{Start: slatedb.Bound{Kind: slatedb.Unbounded}, End: slatedb.Bound{Kind: slatedb.Excluded, Key: []byte("m")}},
				Outputs: []slatedb.SST{*sst(12)},
			}},
			RetentionMinSeq: 77,
			Worker:          slatedb.Worker{ID: "w1", LastHeartbeat: time.UnixMilli(1234).UTC()},
		})
	}
	cs.Recent = append(cs.Recent, slatedb.Compaction{
		ID: ulid.ULID{99}, Status: slatedb.StatusScheduled,
		Spec: slatedb.CompactionSpec{Kind: slatedb.SpecDrainSegment, Segment: []byte("old"), L0ViewIDs: []ulid.ULID{{8}}, SortedRuns: []uint32{1}},
	})
	return cs
}

func TestEncodedManifestsDecodeToThemselves(t *testing.T) {
	empty := &slatedb.Manifest{FormatVersion: 1}
	emptyV2 := &slatedb.Manifest{FormatVersion: 2}
	for _, want := range []*slatedb.Manifest{manifestV1(), manifestV2(), empty, emptyV2} {
		got, err := slatedb.DecodeManifest(slatetest.EncodeManifest(want))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("version %d:\n got %+v\nwant %+v", want.FormatVersion, got, want)
		}
	}
}

func TestEncodedCompactionsDecodeToThemselves(t *testing.T) {
	for _, want := range []*slatedb.Compactions{compactions(1), compactions(2), {FormatVersion: 2}} {
		got, err := slatedb.DecodeCompactions(slatetest.EncodeCompactions(want))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("version %d:\n got %+v\nwant %+v", want.FormatVersion, got, want)
		}
	}
}

func TestWhatAVersionCannotHoldPanics(t *testing.T) {
	for name, encode := range map[string]func(){
		"segments in version 1": func() { m := manifestV2(); m.FormatVersion = 1; slatetest.EncodeManifest(m) },
		"manifest version 3":    func() { slatetest.EncodeManifest(&slatedb.Manifest{FormatVersion: 3}) },
		"compactions version 0": func() { slatetest.EncodeCompactions(&slatedb.Compactions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			encode()
		})
	}
}
