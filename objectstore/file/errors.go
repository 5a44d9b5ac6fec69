package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/stardustdb/stardust/objectstore"
)

// fail returns the Error of an operation, with the sentinel that err stands
// for.
func (s *Store) fail(op string, path objectstore.Path, err error) error {
	err = classify(err)
	if s.escapes != nil && errors.Is(err, s.escapes) {
		err = fmt.Errorf("%w: a symbolic link leads out of the directory: %w", objectstore.ErrInvalidPath, err)
	}
	return &objectstore.Error{Op: op, Store: s.String(), Path: string(path), Err: err}
}

// classify wraps the sentinel that an error of the file system stands for.
func classify(err error) error {
	var errno syscall.Errno
	var pathError *fs.PathError
	var linkError *os.LinkError
	if !errors.As(err, &errno) && !errors.As(err, &pathError) && !errors.As(err, &linkError) {
		if errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("%w: %w", objectstore.ErrClosed, err)
		}
		return err
	}
	for _, c := range [...]struct{ cause, sentinel error }{
		{os.ErrClosed, objectstore.ErrClosed},
		{syscall.ENOSPC, objectstore.ErrNoSpace},
		{syscall.EDQUOT, objectstore.ErrNoSpace},
		{syscall.EROFS, objectstore.ErrPermissionDenied},
		{fs.ErrPermission, objectstore.ErrPermissionDenied},
		{syscall.ENAMETOOLONG, objectstore.ErrInvalidPath},
		{fs.ErrNotExist, objectstore.ErrNotFound},
		{syscall.ENOTDIR, objectstore.ErrNotFound},
	} {
		if errors.Is(err, c.cause) {
			return fmt.Errorf("%w: %w", c.sentinel, err)
		}
	}
	return err
}

// isMissing reports whether err says that there is no object: no file of that
// name, a parent that is a file, or a symbolic link that must not be followed.
func (s *Store) isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) ||
		s.escapes != nil && errors.Is(err, s.escapes)
}

// escapeError returns the error with which root refuses names that lead out of
// it. Package os has it, but exports no name for it.
func escapeError(root *os.Root) error {
	_, err := root.Lstat("..")
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return nil
}
