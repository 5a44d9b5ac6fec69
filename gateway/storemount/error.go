//go:build linux

package storemount

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/stardustdb/stardust/objectstore"
)

// errnoOf returns what the operating system calls an error of a store.
func errnoOf(err error) syscall.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, objectstore.ErrNotFound):
		return syscall.ENOENT
	case errors.Is(err, errChanged), errors.Is(err, objectstore.ErrPrecondition):
		return syscall.ESTALE
	case errors.Is(err, objectstore.ErrPermissionDenied), errors.Is(err, objectstore.ErrUnauthenticated):
		return syscall.EACCES
	case errors.Is(err, objectstore.ErrNoSpace):
		return syscall.ENOSPC
	case errors.Is(err, context.Canceled):
		return syscall.EINTR
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return syscall.ETIMEDOUT
	}
	return syscall.EIO
}
