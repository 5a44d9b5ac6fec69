package objectstore

import "fmt"

// Range selects bytes of an object. Make one with [Bounded], [From] or [Suffix].
type Range struct {
	kind       rangeKind
	start, end int64
}

type rangeKind int

const (
	rangeBounded rangeKind = iota
	rangeFrom
	rangeSuffix
)

// Bounded selects [start, end). An end beyond the object is cut to its size.
func Bounded(start, end int64) *Range { return &Range{rangeBounded, start, end} }

// From selects everything from offset on.
func From(offset int64) *Range { return &Range{kind: rangeFrom, start: offset} }

// Suffix selects the last n bytes, or all when the object is shorter.
func Suffix(n int64) *Range { return &Range{kind: rangeSuffix, end: n} }

// Resolve returns the bounds [start, end) of r within an object of the given
// size; a nil Range selects all. It returns ErrInvalidRange when the range is
// malformed or empty, or begins at or beyond the end of the object.
func (r *Range) Resolve(size int64) (start, end int64, err error) {
	if r == nil {
		return 0, size, nil
	}
	switch r.kind {
	case rangeBounded:
		start, end = r.start, min(r.end, size)
		if r.end <= r.start {
			return 0, 0, fmt.Errorf("%w: %v is empty", ErrInvalidRange, r)
		}
	case rangeFrom:
		start, end = r.start, size
	case rangeSuffix:
		if r.end <= 0 {
			return 0, 0, fmt.Errorf("%w: %v is empty", ErrInvalidRange, r)
		}
		start, end = max(0, size-r.end), size
		if size == 0 {
			return 0, 0, fmt.Errorf("%w: %v of an empty object", ErrInvalidRange, r)
		}
		return start, end, nil
	}
	if start < 0 || start >= size {
		return 0, 0, fmt.Errorf("%w: %v of an object of %d bytes", ErrInvalidRange, r, size)
	}
	return start, end, nil
}

// String returns the range as an HTTP Range header has it, such as "bytes=0-9".
func (r *Range) String() string {
	if r == nil {
		return "bytes=0-"
	}
	switch r.kind {
	case rangeFrom:
		return fmt.Sprintf("bytes=%d-", r.start)
	case rangeSuffix:
		return fmt.Sprintf("bytes=-%d", r.end)
	default:
		return fmt.Sprintf("bytes=%d-%d", r.start, r.end-1)
	}
}
