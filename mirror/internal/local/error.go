package local

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/stardustdb/stardust/objectstore"
)

// An Error says that local disk I/O failed. It matches objectstore.ErrNoSpace when
// the disk is full. Users of package mirror know it as mirror.Local.
type Error struct {
	Path   objectstore.Path // may be empty
	Op     string           // what failed, such as "create the temporary file"
	Source error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("local disk: %s: %v", e.Op, e.Source)
	}
	return fmt.Sprintf("local disk: %s for %q: %v", e.Op, string(e.Path), e.Source)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Source }

// Is reports whether target is objectstore.ErrNoSpace and the disk was full.
func (e *Error) Is(target error) bool {
	return target == objectstore.ErrNoSpace && errors.Is(e.Source, syscall.ENOSPC)
}

// Fail is a Local, unless err is nil.
func Fail(op string, path objectstore.Path, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Path: path, Op: op, Source: err}
}

// Refusal says that the directory must not be used; it is left as it is.
type Refusal struct {
	Message string
	Source  error // may be nil
}

func (r *Refusal) Error() string { return r.Message }
func (r *Refusal) Unwrap() error { return r.Source }
