package container

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile makes a file's bytes and its size durable; times may lag behind.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}

// moveNew renames a file unless the new name exists already.
func moveNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return linkNew(from, to) // a file system without it
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
