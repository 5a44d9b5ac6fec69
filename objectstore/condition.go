package objectstore

import (
	"fmt"
	"strings"
	"time"
)

// Check returns ErrPrecondition or ErrNotModified when a condition of the
// options does not allow a read of the object that meta describes, and nil
// when the read may go on. Nil options allow every read.
//
// Times compare in whole seconds, as HTTP's dates do, so that all Stores agree
// whatever precision they keep.
func (o *GetOptions) Check(meta ObjectMeta) error {
	if o == nil {
		return nil
	}
	switch {
	case o.IfMatch != "":
		if !MatchETag(o.IfMatch, meta.ETag) {
			return fmt.Errorf("%w: ETag is %q, not %q", ErrPrecondition, meta.ETag, o.IfMatch)
		}
	case !o.IfUnmodifiedSince.IsZero():
		if seconds(meta.LastModified).After(seconds(o.IfUnmodifiedSince)) {
			return fmt.Errorf("%w: modified at %v", ErrPrecondition, meta.LastModified)
		}
	}
	switch {
	case o.IfNoneMatch != "":
		if MatchETag(o.IfNoneMatch, meta.ETag) {
			return ErrNotModified
		}
	case !o.IfModifiedSince.IsZero():
		if !seconds(meta.LastModified).After(seconds(o.IfModifiedSince)) {
			return ErrNotModified
		}
	}
	return nil
}

func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }

// MatchETag reports whether etag is one of a comma-separated list of ETags, or
// the list is "*". Surrounding quotes and a weak mark (W/) are ignored.
func MatchETag(list, etag string) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	if etag == "" {
		return false
	}
	etag = bareETag(etag)
	for one := range strings.SplitSeq(list, ",") {
		if bareETag(one) == etag {
			return true
		}
	}
	return false
}

// bareETag returns an ETag without spaces, weak mark and quotes.
func bareETag(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "W/")
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	return s
}

// Validate returns ErrInvalidOption for a mode that no write can have: an
// unknown one, or Update without a version.
func (m PutMode) Validate(update UpdateVersion) error {
	switch m {
	case Overwrite, Create:
		return nil
	case Update:
		if update.ETag == "" && update.Version == "" {
			return fmt.Errorf("%w: mode Update needs an UpdateVersion", ErrInvalidOption)
		}
		return nil
	default:
		return fmt.Errorf("%w: put mode %d", ErrInvalidOption, int(m))
	}
}

// Check returns the error of a write in this mode over the object that current
// describes (nil: there is none): ErrAlreadyExists, ErrPrecondition, or
// ErrInvalidOption as Validate returns it. It returns nil when the write may go
// on.
func (m PutMode) Check(update UpdateVersion, current *ObjectMeta) error {
	if err := m.Validate(update); err != nil {
		return err
	}
	switch {
	case m == Create && current != nil:
		return ErrAlreadyExists
	case m == Update && current == nil:
		return fmt.Errorf("%w: no object to update", ErrPrecondition)
	case m == Update && update.ETag != "" && bareETag(update.ETag) != current.ETag:
		return fmt.Errorf("%w: ETag is %q, not %q", ErrPrecondition, current.ETag, update.ETag)
	case m == Update && update.Version != "" && update.Version != current.Version:
		return fmt.Errorf("%w: version is %q, not %q", ErrPrecondition, current.Version, update.Version)
	}
	return nil
}

// String returns the mode's name.
func (m PutMode) String() string {
	switch m {
	case Overwrite:
		return "overwrite"
	case Create:
		return "create"
	case Update:
		return "update"
	default:
		return fmt.Sprintf("PutMode(%d)", int(m))
	}
}
