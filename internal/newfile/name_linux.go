package newfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func name(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return link(from, to) // a file system without it
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
