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
