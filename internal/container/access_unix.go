//go:build unix

package container

import (
	"errors"

	"golang.org/x/sys/unix"
)

// writableDir reports whether files can be made in a directory.
func writableDir(dir string) bool {
	return unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}

func isReadOnlyMedium(err error) bool { return errors.Is(err, unix.EROFS) }

func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
