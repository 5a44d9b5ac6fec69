//go:build linux || darwin

package container

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// writePieces writes the pieces one after the other, with one system call when
// the kernel takes them all.
func writePieces(f *os.File, off int64, pieces [][]byte) error {
	if len(pieces) == 1 {
		_, err := f.WriteAt(pieces[0], off)
		return err
	}
	total := 0
	for _, p := range pieces {
		total += len(p)
	}
	n := 0
	for try := true; try; {
		var err error
		n, err = unix.Pwritev(int(f.Fd()), pieces, off)
		try = errors.Is(err, unix.EINTR)
		if err != nil && !try {
			return &os.PathError{Op: "pwritev", Path: f.Name(), Err: err}
		}
	}
	if n == total {
		return nil
	}
	for _, p := range pieces { // the kernel took only a part
		if n < len(p) {
			if _, err := f.WriteAt(p[n:], off+int64(n)); err != nil {
				return err
			}
			n = len(p)
		}
		off += int64(len(p))
		n -= len(p)
	}
	return nil
}

// readPieces fills the pieces from bytes that lie one after the other. It
// returns io.EOF when the file ends before.
func readPieces(f *os.File, off int64, pieces [][]byte) error {
	total := 0
	for _, p := range pieces {
		total += len(p)
	}
	n := 0
	for try := true; try; {
		var err error
		n, err = unix.Preadv(int(f.Fd()), pieces, off)
		try = errors.Is(err, unix.EINTR)
		if err != nil && !try {
			return &os.PathError{Op: "preadv", Path: f.Name(), Err: err}
		}
	}
	if n == total {
		return nil
	}
	for _, p := range pieces {
		if n < len(p) {
			if m, err := f.ReadAt(p[n:], off+int64(n)); m < len(p)-n {
				if err == nil {
					err = io.ErrNoProgress
				}
				return err
			}
			n = len(p)
		}
		off += int64(len(p))
		n -= len(p)
	}
	return nil
}
