package objectstore

import (
	"errors"
	"fmt"
)

// The sentinels that an [Error] wraps. Test with errors.Is.
var (
	// ErrNotFound: there is no object at the path.
	ErrNotFound = errors.New("object not found")
	// ErrNoBucket: the bucket, container or directory that the store keeps its
	// objects in does not exist. It is not ErrNotFound, which says that an
	// object is gone.
	ErrNoBucket = errors.New("the store's bucket does not exist")
	// ErrAlreadyExists: a create-only write met an existing object.
	ErrAlreadyExists = errors.New("object already exists")
	// ErrPrecondition: a condition (If-Match, expected version) did not hold.
	ErrPrecondition = errors.New("precondition failed")
	// ErrNotModified: the caller has this object already.
	ErrNotModified = errors.New("object not modified")
	// ErrPermissionDenied: the credentials do not allow this operation.
	ErrPermissionDenied = errors.New("permission denied")
	// ErrUnauthenticated: the credentials are missing or wrong.
	ErrUnauthenticated = errors.New("credentials missing or not valid")
	// ErrUnsupported: the store cannot do this operation at all.
	ErrUnsupported = errors.New("operation not supported by this store")
	// ErrInvalidPath: the path is not valid, or this store cannot hold it.
	ErrInvalidPath = errors.New("invalid path")
	// ErrInvalidRange: the range begins beyond the object's end, or is malformed.
	ErrInvalidRange = errors.New("invalid range")
	// ErrInvalidOption: an option has an invalid value.
	ErrInvalidOption = errors.New("invalid option")
	// ErrUploadNotFound: there is no multipart upload with this id.
	ErrUploadNotFound = errors.New("multipart upload not found")
	// ErrInvalidPart: a part is missing, altered, too small, or out of order.
	ErrInvalidPart = errors.New("invalid part")
	// ErrNoSpace: the store has no space left, or a quota is used up.
	ErrNoSpace = errors.New("no space left in the store")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

// Error is what every method of a Store returns when it fails.
type Error struct {
	Op    string // such as "get", "put", "list"
	Store string // the store's String, may be empty
	Path  string // the path or prefix, may be empty
	Err   error  // the cause; wraps one of the sentinels when one applies
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Path == "" && e.Store == "":
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	case e.Store == "":
		return fmt.Sprintf("%s %q: %v", e.Op, e.Path, e.Err)
	case e.Path == "":
		return fmt.Sprintf("%s in %s: %v", e.Op, e.Store, e.Err)
	}
	return fmt.Sprintf("%s %q in %s: %v", e.Op, e.Path, e.Store, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NonRetryable marks err as one that no repetition can mend. The retry
// decorator, and every other retry loop over stores, gives up at once when it
// finds the mark anywhere in an error's chain. NonRetryable(nil) is nil.
func NonRetryable(err error) error {
	if err == nil {
		return nil
	}
	return &nonRetryable{err}
}

type nonRetryable struct{ err error }

func (n *nonRetryable) Error() string { return n.err.Error() }
func (n *nonRetryable) Unwrap() error { return n.err }

// IsNonRetryable reports whether err carries the mark of [NonRetryable].
func IsNonRetryable(err error) bool {
	var n *nonRetryable
	return errors.As(err, &n)
}
