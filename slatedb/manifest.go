package slatedb

import (
	"bytes"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// Manifest is one version of a database's state: which SSTs form it, which
// earlier versions must stay readable, which other databases it borrows SSTs
// from. Get one with [DecodeManifest] or [ReadManifest].
//
// A Manifest must not be changed: it is shared, and its byte slices are parts
// of one buffer.
type Manifest struct {
	// ID is the number in the object's file name. The number inside the object
	// is not used: SlateDB writes zero there. DecodeManifest, which sees no
	// name, leaves ID zero.
	ID uint64
	// FormatVersion is 1 or 2.
	FormatVersion uint16
	// Initialized is false while a clone is being made.
	Initialized                 bool
	WriterEpoch, CompactorEpoch uint64
	ReplayAfterWALID            uint64
	WALIDLastSeen               uint64
	LastL0ClockTick             int64
	LastL0Seq                   uint64
	RecentSnapshotMinSeq        uint64
	WALObjectStoreURI           string // empty when the WAL has no store of its own
	SegmentExtractor            string // empty when the database has no segments
	Root                        Tree
	Segments                    []Segment // ascending by prefix; version 2 only
	ExternalDBs                 []ExternalDB
	Checkpoints                 []Checkpoint
}

// Tree is an LSM tree: the root's, or a segment's.
type Tree struct {
	// LastCompactedL0 is the newest L0 view that was compacted; zero for none.
	LastCompactedL0 ulid.ULID
	L0              []SSTView // newest first
	SortedRuns      []SortedRun
}

// SortedRun is a run of SSTs with ascending, disjoint keys.
type SortedRun struct {
	ID   uint32
	SSTs []SSTView
}

// Segment is the tree of all keys with one prefix.
type Segment struct {
	Prefix []byte
	Tree
}

// ExternalDB is another database, some of whose SSTs a clone reads in place.
type ExternalDB struct {
	// Path is the other database's root, as the manifest spells it. Use a
	// [Resolver] to find the SSTs.
	Path               string
	SourceCheckpointID uuid.UUID
	// FinalCheckpointID is the clone's checkpoint in the other database. It is
	// uuid.Nil until the clone has made one.
	FinalCheckpointID uuid.UUID
	SSTIDs            []ulid.ULID
}

// Checkpoint keeps an earlier manifest, and the SSTs in it, from being
// collected.
type Checkpoint struct {
	ID         uuid.UUID
	ManifestID uint64
	// ExpireTime is zero for a checkpoint that does not expire.
	ExpireTime time.Time
	CreateTime time.Time
	Name       string // empty when it has none
}

// Active reports whether the checkpoint still holds at the given time. One
// holds up to and including the second that it expires at.
func (c *Checkpoint) Active(now time.Time) bool {
	return c.ExpireTime.IsZero() || !now.Truncate(time.Second).After(c.ExpireTime)
}

// Trees yields the root tree, under an empty prefix, and then the tree of every
// segment under its prefix.
func (m *Manifest) Trees() iter.Seq2[[]byte, *Tree] {
	return func(yield func([]byte, *Tree) bool) {
		if !yield([]byte{}, &m.Root) {
			return
		}
		for i := range m.Segments {
			if !yield(m.Segments[i].Prefix, &m.Segments[i].Tree) {
				return
			}
		}
	}
}

// SSTViews yields every view of the tree: L0, then the sorted runs.
func (t *Tree) SSTViews() iter.Seq[*SSTView] {
	return func(yield func(*SSTView) bool) {
		for i := range t.L0 {
			if !yield(&t.L0[i]) {
				return
			}
		}
		for r := range t.SortedRuns {
			run := t.SortedRuns[r].SSTs
			for i := range run {
				if !yield(&run[i]) {
					return
				}
			}
		}
	}
}

// size returns the number of views.
func (t *Tree) size() int {
	n := len(t.L0)
	for i := range t.SortedRuns {
		n += len(t.SortedRuns[i].SSTs)
	}
	return n
}

// AllSSTViews yields every view of every tree. Several views may show one SST.
func (m *Manifest) AllSSTViews() iter.Seq[*SSTView] {
	return func(yield func(*SSTView) bool) {
		for _, tree := range m.Trees() {
			for view := range tree.SSTViews() {
				if !yield(view) {
					return
				}
			}
		}
	}
}

// SSTs returns the ID of every SST that the manifest references, once, in
// ascending order. Checkpoints' SSTs are in their own manifests.
func (m *Manifest) SSTs() []ulid.ULID {
	var ids []ulid.ULID
	for view := range m.AllSSTViews() {
		ids = append(ids, view.SST.ID)
	}
	return sortIDs(ids)
}

// ActiveCheckpoints returns the checkpoints that hold at the given time.
func (m *Manifest) ActiveCheckpoints(now time.Time) []Checkpoint {
	var active []Checkpoint
	for i := range m.Checkpoints {
		if m.Checkpoints[i].Active(now) {
			active = append(active, m.Checkpoints[i])
		}
	}
	return active
}

// sortIDs sorts ids in place and drops repeated ones.
func sortIDs(ids []ulid.ULID) []ulid.ULID {
	slices.SortFunc(ids, ulid.ULID.Compare)
	return slices.Compact(ids)
}

// sortSegments establishes the order of Manifest.Segments.
func sortSegments(segments []Segment) {
	slices.SortFunc(segments, func(a, b Segment) int { return bytes.Compare(a.Prefix, b.Prefix) })
}
