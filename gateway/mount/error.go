//go:build linux

package mount

import (
	"errors"
	"syscall"
	"unicode/utf8"

	"github.com/stardustdb/stardust"
)

// errnoOf returns what the operating system calls an error of the database.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*stardust.Error](err); ok {
		if errno := codeErrno(e.Code); errno != 0 {
			return errno
		}
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, stardust.StatusNotFound):
		return syscall.ENOENT
	case errors.Is(err, stardust.StatusInvalidArgument):
		return syscall.EINVAL
	case errors.Is(err, stardust.StatusOutOfMemory):
		return syscall.ENOMEM
	case errors.Is(err, stardust.StatusConflict):
		return syscall.EBUSY
	case errors.Is(err, stardust.StatusUnavailable):
		return syscall.EROFS
	case errors.Is(err, stardust.StatusCanceled):
		return syscall.EINTR
	}
	return syscall.EIO
}

func codeErrno(code string) syscall.Errno {
	switch code {
	case stardust.CodeNameTaken:
		return syscall.EEXIST
	case stardust.CodeNotEmpty:
		return syscall.ENOTEMPTY
	case stardust.CodeNoSpace:
		return syscall.ENOSPC
	case stardust.CodeReadOnly:
		return syscall.EROFS
	case stardust.CodeWritesHeld:
		return syscall.EBUSY
	}
	return 0
}

// maxName is the longest name that Linux programs expect. The tree holds longer
// ones; listings leave them out, since the kernel refuses a listing with one.
const maxName = 255

// checkName says why the tree can't hold a name that the kernel lets through.
func checkName(name string) syscall.Errno {
	switch {
	case len(name) > maxName:
		return syscall.ENAMETOOLONG
	case !utf8.ValidString(name):
		return syscall.EILSEQ
	}
	return 0
}
