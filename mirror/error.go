package mirror

import (
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// The mirror's own errors are found with errors.As inside the
// *objectstore.Error that a method returned. All are marked non-retryable: the
// mirror has already repeated what could succeed (RFC 0034, Errors and
// Retries).

// NotLocal says that a [ReadLocal] route missed. It is not objectstore.ErrNotFound: the
// object may well exist remotely.
type NotLocal struct {
	Path objectstore.Path
}

// Error implements error.
func (e *NotLocal) Error() string {
	return fmt.Sprintf("there is no local copy of %q", string(e.Path))
}

// Local says that local disk I/O failed. The call wrote nothing remotely; a
// Delete has deleted the remote object all the same. It matches
// objectstore.ErrNoSpace when the disk is full.
type Local = local.Error

// WriteCommitted says that a write reached the remote store, but Observe or the
// local installation failed afterwards. The remote object exists.
type WriteCommitted struct {
	Path   objectstore.Path
	Source error
}

// Error implements error.
func (e *WriteCommitted) Error() string {
	return fmt.Sprintf("%q was written remotely, but not finished locally: %v", string(e.Path), e.Source)
}

// Unwrap returns the cause.
func (e *WriteCommitted) Unwrap() error { return e.Source }

// PolicyError says that the policy returned an error from a route or Observe, or
// a route that does not exist.
type PolicyError struct {
	Path   objectstore.Path
	Source error
}

// Error implements error.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("the mirror's policy refuses %q: %v", string(e.Path), e.Source)
}

// Unwrap returns the cause.
func (e *PolicyError) Unwrap() error { return e.Source }

// Unsupported says that the mirror does not do this operation (copy, rename). It
// matches objectstore.ErrUnsupported.
type Unsupported struct {
	Operation string
}

// Error implements error.
func (e *Unsupported) Error() string {
	return fmt.Sprintf("a mirror does not support %s: it could overwrite a mirrored path; use the remote store itself", e.Operation)
}

// Is reports whether target is objectstore.ErrUnsupported.
func (e *Unsupported) Is(target error) bool { return target == objectstore.ErrUnsupported }

// InvalidConfig says that [Open] was given an invalid option, such as a negative
// download concurrency, or a directory it must not use. It matches
// objectstore.ErrInvalidOption.
type InvalidConfig struct {
	Message string
	Source  error // may be nil
}

// Error implements error.
func (e *InvalidConfig) Error() string {
	if e.Source == nil {
		return "invalid mirror configuration: " + e.Message
	}
	return fmt.Sprintf("invalid mirror configuration: %s: %v", e.Message, e.Source)
}

// Unwrap returns the cause.
func (e *InvalidConfig) Unwrap() error { return e.Source }

// Is reports whether target is objectstore.ErrInvalidOption.
func (e *InvalidConfig) Is(target error) bool { return target == objectstore.ErrInvalidOption }

// WarmError says that [Warm] could not download some objects. All others are
// local. It is not marked as non-retryable: another Warm tries them again.
type WarmError struct {
	// Failed is the number of objects.
	Failed int
	// First are the errors of the first of them.
	First []error
}

// maxWarmErrors bounds the errors that a WarmError holds.
const maxWarmErrors = 10

func (e *WarmError) add(err error) {
	if e.Failed++; len(e.First) < maxWarmErrors {
		e.First = append(e.First, err)
	}
}

// Error implements error.
func (e *WarmError) Error() string {
	what := "objects"
	if e.Failed == 1 {
		what = "object"
	}
	return fmt.Sprintf("%d %s could not be downloaded, the first because of: %v", e.Failed, what, e.First[0])
}

// Unwrap returns the errors that it holds.
func (e *WarmError) Unwrap() []error { return e.First }

// own marks the mirror's own errors.
type own interface{ mirrorError() }

func (*NotLocal) mirrorError()       {}
func (*WriteCommitted) mirrorError() {}
func (*PolicyError) mirrorError()    {}
func (*Unsupported) mirrorError()    {}
func (*InvalidConfig) mirrorError()  {}

// fail makes err what a Store method returns: an *objectstore.Error, of the
// remote as it came, and marked non-retryable when it is the mirror's own.
func (m *Mirror) fail(op string, path objectstore.Path, err error) error {
	if whole, ok := err.(*objectstore.Error); ok { //nolint:errorlint // only the outermost counts
		return whole
	}
	var mine own
	if errors.As(err, &mine) || isLocalFailure(err) {
		err = objectstore.NonRetryable(err)
	}
	return &objectstore.Error{Op: op, Store: m.name, Path: string(path), Err: err}
}

func isLocalFailure(err error) bool {
	var failure *local.Error
	return errors.As(err, &failure)
}

func isNotLocal(err error) bool {
	var missing *NotLocal
	return errors.As(err, &missing)
}

func isCommitted(err error) bool {
	var committed *WriteCommitted
	return errors.As(err, &committed)
}
