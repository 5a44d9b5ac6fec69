package slatedb

import (
	"iter"
	"time"

	"github.com/oklog/ulid/v2"
)

// Compactions is one version of a database's compaction state. Get one with
// [DecodeCompactions] or [ReadCompactions]. It must not be changed.
type Compactions struct {
	// ID is the number in the object's file name; DecodeCompactions leaves it
	// zero.
	ID uint64
	// FormatVersion is 1 or 2.
	FormatVersion  uint16
	CompactorEpoch uint64
	Recent         []Compaction
}

// Compaction is one job.
type Compaction struct {
	ID     ulid.ULID
	Status CompactionStatus
	Spec   CompactionSpec
	// Outputs are the SSTs written so far or, of a job with subcompactions,
	// all SSTs once it has finished.
	Outputs []SST
	// Subcompactions divide the job's keys into ranges that workers compact,
	// and resume, one by one.
	Subcompactions  []Subcompaction
	RetentionMinSeq uint64
	Worker          Worker
}

// CompactionStatus is how far a job is.
type CompactionStatus int8

// The states of SlateDB. Version 1 has the first four only.
const (
	StatusSubmitted CompactionStatus = iota
	StatusRunning
	StatusCompleted
	StatusFailed
	StatusCompacted
	StatusScheduled
)

// String returns the status's name in SlateDB's schema.
func (s CompactionStatus) String() string {
	return enumName("CompactionStatus", int(s),
		"Submitted", "Running", "Completed", "Failed", "Compacted", "Scheduled")
}

// SpecKind says what a job does.
type SpecKind byte

const (
	// SpecTiered merges L0 views and sorted runs into one sorted run.
	SpecTiered SpecKind = 1
	// SpecDrainSegment drops the contents of a segment and writes nothing.
	SpecDrainSegment SpecKind = 2
)

// String returns the kind's name in SlateDB's schema.
func (k SpecKind) String() string {
	return enumName("CompactionSpec", int(k), "NONE", "TieredCompactionSpec", "DrainSegmentSpec")
}

// CompactionSpec says what a job reads and where it writes.
type CompactionSpec struct {
	Kind SpecKind
	// Segment is the prefix of the job's segment; empty for the root.
	Segment []byte
	// SSTs are inputs as old writers named them; others use L0ViewIDs.
	SSTs, L0ViewIDs []ulid.ULID
	SortedRuns      []uint32
	// Destination is the sorted run written. Version 1 does not say it.
	Destination uint32
}

// Subcompaction is a range of a job's keys.
type Subcompaction struct {
	Range   KeyRange
	Outputs []SST
}

// Worker is the process that has claimed a job. Its ID is empty when none has.
type Worker struct {
	ID            string
	LastHeartbeat time.Time
}

// Active reports whether the job's output may still become part of the
// database: it neither failed nor is in the manifest already. A state that this
// package does not know counts as active.
func (c *Compaction) Active() bool { return c.Status != StatusCompleted && c.Status != StatusFailed }

// Ranges yields the SSTs written so far for each range of the job, in the order
// written. A job without subcompactions has one range.
func (c *Compaction) Ranges() iter.Seq[[]SST] {
	return func(yield func([]SST) bool) {
		if len(c.Outputs) > 0 && !yield(c.Outputs) {
			return
		}
		for i := range c.Subcompactions {
			if outputs := c.Subcompactions[i].Outputs; len(outputs) > 0 && !yield(outputs) {
				return
			}
		}
	}
}

// ActiveOutputs yields every SST that an active job has written so far, with
// the prefix of the job's segment.
func (cs *Compactions) ActiveOutputs() iter.Seq2[[]byte, ulid.ULID] {
	return func(yield func([]byte, ulid.ULID) bool) {
		for i := range cs.Recent {
			c := &cs.Recent[i]
			if !c.Active() {
				continue
			}
			for outputs := range c.Ranges() {
				for j := range outputs {
					if !yield(c.Spec.Segment, outputs[j].ID) {
						return
					}
				}
			}
		}
	}
}

// ResumePoints yields the SSTs that a worker reads before it resumes a job: the
// last output of each range of each job that waits for a worker, with the
// prefix of the job's segment (RFC 0034, Reads). Those are the Scheduled jobs.
// Version 1 has no such state; there the compactor itself resumes what it finds
// Submitted or Running, so these count.
func (cs *Compactions) ResumePoints() iter.Seq2[[]byte, ulid.ULID] {
	return func(yield func([]byte, ulid.ULID) bool) {
		for i := range cs.Recent {
			c := &cs.Recent[i]
			if !cs.resumable(c) {
				continue
			}
			for outputs := range c.Ranges() {
				if !yield(c.Spec.Segment, outputs[len(outputs)-1].ID) {
					return
				}
			}
		}
	}
}

func (cs *Compactions) resumable(c *Compaction) bool {
	if cs.FormatVersion == 1 {
		return c.Status == StatusSubmitted || c.Status == StatusRunning || c.Status == StatusScheduled
	}
	return c.Status == StatusScheduled
}
