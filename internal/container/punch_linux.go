package container

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// punchFile gives a range of a file back to the file system; it reads as zeros
// then. It reports false where that cannot be done.
func punchFile(f *os.File, off, n int64) (bool, error) {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENODEV):
			return false, nil
		default:
			return false, &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}
