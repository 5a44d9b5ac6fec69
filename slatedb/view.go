package slatedb

import (
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// ManifestView is what a manifest says, for JSON.
type ManifestView struct {
	ID            uint64 `json:"id"`
	FormatVersion uint16 `json:"format_version"`
	// SSTs is every SST that the manifest references, once, ascending.
	SSTs        []ulid.ULID      `json:"ssts"`
	Checkpoints []CheckpointView `json:"checkpoints"`
	ExternalDBs []ExternalDBView `json:"external_dbs"`
	Segments    []SegmentView    `json:"segments"`
}

// CheckpointView is a checkpoint, for JSON.
type CheckpointView struct {
	ID         uuid.UUID `json:"id"`
	ManifestID uint64    `json:"manifest_id"`
	// ExpireTimeS is in seconds since 1970; nil for a checkpoint that does not
	// expire.
	ExpireTimeS *int64  `json:"expire_time_s"`
	Name        *string `json:"name"` // nil when it has none
}

// ExternalDBView is an external database, for JSON.
type ExternalDBView struct {
	Path   string      `json:"path"`
	SSTIDs []ulid.ULID `json:"sst_ids"`
}

// SegmentView is a segment, for JSON.
type SegmentView struct {
	// Prefix is the prefix as text; absent when it is not UTF-8.
	Prefix     *string     `json:"prefix,omitempty"`
	PrefixHex  string      `json:"prefix_hex"`
	L0         []ulid.ULID `json:"l0"`
	SortedRuns []RunView   `json:"sorted_runs"`
}

// RunView is a sorted run, for JSON.
type RunView struct {
	ID   uint32      `json:"id"`
	SSTs []ulid.ULID `json:"ssts"`
}

// View returns what the manifest says, for JSON. No list in it is null.
func (m *Manifest) View() *ManifestView {
	v := &ManifestView{
		ID:            m.ID,
		FormatVersion: m.FormatVersion,
		SSTs:          present(m.SSTs()),
		Checkpoints:   make([]CheckpointView, len(m.Checkpoints)),
		ExternalDBs:   make([]ExternalDBView, len(m.ExternalDBs)),
		Segments:      make([]SegmentView, len(m.Segments)),
	}
	for i := range m.Checkpoints {
		v.Checkpoints[i] = m.Checkpoints[i].View()
	}
	for i, e := range m.ExternalDBs {
		v.ExternalDBs[i] = ExternalDBView{e.Path, present(e.SSTIDs)}
	}
	for i := range m.Segments {
		v.Segments[i] = m.Segments[i].view()
	}
	return v
}

// View returns the checkpoint, for JSON.
func (c *Checkpoint) View() CheckpointView {
	v := CheckpointView{ID: c.ID, ManifestID: c.ManifestID, ExpireTimeS: unixSeconds(c.ExpireTime)}
	if c.Name != "" {
		v.Name = &c.Name
	}
	return v
}

func (s *Segment) view() SegmentView {
	v := SegmentView{
		PrefixHex:  hex.EncodeToString(s.Prefix),
		L0:         sstIDs(s.L0),
		SortedRuns: make([]RunView, len(s.SortedRuns)),
	}
	if utf8.Valid(s.Prefix) {
		text := string(s.Prefix)
		v.Prefix = &text
	}
	for i, run := range s.SortedRuns {
		v.SortedRuns[i] = RunView{run.ID, sstIDs(run.SSTs)}
	}
	return v
}

// CompactionsView is what a compactions object says, for JSON.
type CompactionsView struct {
	ID             uint64           `json:"id"`
	FormatVersion  uint16           `json:"format_version"`
	CompactorEpoch uint64           `json:"compactor_epoch"`
	Compactions    []CompactionView `json:"compactions"`
}

// CompactionView is a compaction, for JSON.
type CompactionView struct {
	ID         ulid.ULID   `json:"id"`
	Status     string      `json:"status"`
	SpecType   string      `json:"spec_type"`
	SegmentHex string      `json:"segment_hex"`
	SortedRuns []uint32    `json:"sorted_runs"`
	SSTs       []ulid.ULID `json:"ssts"`
	L0ViewIDs  []ulid.ULID `json:"l0_view_ids"`
	// OutputSSTs are those of all ranges.
	OutputSSTs []ulid.ULID `json:"output_ssts"`
	WorkerID   *string     `json:"worker_id"` // nil when no worker has it
}

// View returns what the object says, for JSON. No list in it is null.
func (cs *Compactions) View() *CompactionsView {
	v := &CompactionsView{cs.ID, cs.FormatVersion, cs.CompactorEpoch, make([]CompactionView, len(cs.Recent))}
	for i := range cs.Recent {
		c := &cs.Recent[i]
		outputs := []ulid.ULID{}
		for written := range c.Ranges() {
			for _, sst := range written {
				outputs = append(outputs, sst.ID)
			}
		}
		v.Compactions[i] = CompactionView{
			ID:         c.ID,
			Status:     c.Status.String(),
			SpecType:   c.Spec.Kind.String(),
			SegmentHex: hex.EncodeToString(c.Spec.Segment),
			SortedRuns: present(c.Spec.SortedRuns),
			SSTs:       present(c.Spec.SSTs),
			L0ViewIDs:  present(c.Spec.L0ViewIDs),
			OutputSSTs: outputs,
		}
		if c.Worker.ID != "" {
			v.Compactions[i].WorkerID = &c.Worker.ID
		}
	}
	return v
}

func sstIDs(views []SSTView) []ulid.ULID {
	ids := make([]ulid.ULID, len(views))
	for i := range views {
		ids[i] = views[i].SST.ID
	}
	return ids
}

// present turns nil into an empty list, which JSON shows as [].
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func unixSeconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}
