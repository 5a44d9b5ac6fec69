package slatedb

import (
	"slices"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// ManifestDiff is how two manifests differ, for people and JSON. All lists are
// sorted; none is nil.
type ManifestDiff struct {
	From               uint64           `json:"from"`
	To                 uint64           `json:"to"`
	AddedSSTs          []ulid.ULID      `json:"added_ssts"`
	RemovedSSTs        []ulid.ULID      `json:"removed_ssts"`
	AddedCheckpoints   []CheckpointView `json:"added_checkpoints"`
	RemovedCheckpoints []CheckpointView `json:"removed_checkpoints"`
	// ChangedCheckpoints are as in the second manifest.
	ChangedCheckpoints []CheckpointView `json:"changed_checkpoints"`
	AddedExternalDBs   []string         `json:"added_external_dbs"`
	RemovedExternalDBs []string         `json:"removed_external_dbs"`
	AddedSegments      []SegmentView    `json:"added_segments"`
	RemovedSegments    []SegmentView    `json:"removed_segments"`
	Fields             []FieldDiff      `json:"fields"`
}

// FieldDiff is a number that differs.
type FieldDiff struct {
	Name string `json:"name"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
}

// Diff says how b differs from a. They need not be consecutive, nor of one
// format version. An SST that only moved, from L0 to a sorted run or between
// runs, is neither added nor removed.
func Diff(a, b *Manifest) *ManifestDiff {
	d := &ManifestDiff{From: a.ID, To: b.ID, ChangedCheckpoints: []CheckpointView{}, Fields: []FieldDiff{}}
	d.RemovedSSTs, d.AddedSSTs = difference(a.SSTs(), b.SSTs(), func(id ulid.ULID) ulid.ULID { return id })
	d.RemovedCheckpoints, d.AddedCheckpoints = difference(a.View().Checkpoints, b.View().Checkpoints,
		func(c CheckpointView) uuid.UUID { return c.ID })
	d.RemovedExternalDBs, d.AddedExternalDBs = difference(externalPaths(a), externalPaths(b), func(path string) string { return path })
	d.RemovedSegments, d.AddedSegments = difference(a.View().Segments, b.View().Segments,
		func(s SegmentView) string { return s.PrefixHex })

	before := make(map[uuid.UUID]*Checkpoint, len(a.Checkpoints))
	for i := range a.Checkpoints {
		before[a.Checkpoints[i].ID] = &a.Checkpoints[i]
	}
	for i := range b.Checkpoints {
		if old, ok := before[b.Checkpoints[i].ID]; ok && *old != b.Checkpoints[i] {
			d.ChangedCheckpoints = append(d.ChangedCheckpoints, b.Checkpoints[i].View())
		}
	}
	d.field("format_version", uint64(a.FormatVersion), uint64(b.FormatVersion))
	d.field("writer_epoch", a.WriterEpoch, b.WriterEpoch)
	d.field("compactor_epoch", a.CompactorEpoch, b.CompactorEpoch)
	d.field("replay_after_wal_id", a.ReplayAfterWALID, b.ReplayAfterWALID)
	d.field("wal_id_last_seen", a.WALIDLastSeen, b.WALIDLastSeen)
	d.field("last_l0_seq", a.LastL0Seq, b.LastL0Seq)
	return d
}

func (d *ManifestDiff) field(name string, from, to uint64) {
	if from != to {
		d.Fields = append(d.Fields, FieldDiff{name, int64(from), int64(to)})
	}
}

// difference returns what is in a but not in b, and what is in b but not in a,
// compared by key, in their own order.
func difference[T any, K comparable](a, b []T, key func(T) K) (onlyA, onlyB []T) {
	return without(a, b, key), without(b, a, key)
}

func without[T any, K comparable](list, others []T, key func(T) K) []T {
	known := make(map[K]bool, len(others))
	for _, other := range others {
		known[key(other)] = true
	}
	rest := slices.DeleteFunc(slices.Clone(list), func(item T) bool { return known[key(item)] })
	return present(rest)
}

func externalPaths(m *Manifest) []string {
	var paths []string
	for i := range m.ExternalDBs {
		paths = append(paths, m.ExternalDBs[i].Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
