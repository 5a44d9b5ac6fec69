package transfer

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// holesReader reads an open file and supplies the zeros of its holes without
// reading them. On a file system without holes it reads everything.
type holesReader struct {
	file holesFile
	at   int64
	// data and end are where the next piece of data begins and ends; a hole is
	// before it.
	data, end int64
	found     bool // there was a hole
}

// holesFile is an *os.File.
type holesFile interface {
	io.ReaderAt
	io.Seeker
	Stat() (fs.FileInfo, error)
}

func (r *holesReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if r.at >= r.end {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	if r.at < r.data {
		r.found = true
		n := int(min(int64(len(p)), r.data-r.at))
		clear(p[:n])
		r.at += int64(n)
		return n, nil
	}
	n, err := r.file.ReadAt(p[:min(int64(len(p)), r.end-r.at)], r.at)
	r.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// next finds the next piece of data, or the end of the file.
func (r *holesReader) next() error {
	data, err := r.file.Seek(r.at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) { // none follows
		info, err := r.file.Stat()
		if err != nil {
			return err
		}
		if r.at >= info.Size() {
			return io.EOF
		}
		r.data, r.end = info.Size(), info.Size()
		return nil
	}
	if err != nil {
		r.data, r.end = r.at, math.MaxInt64
		return nil //nolint:nilerr // it knows of no holes
	}
	end, err := r.file.Seek(data, unix.SEEK_HOLE)
	if err != nil {
		end = math.MaxInt64
	}
	r.data, r.end = data, end
	return nil
}

// rewind begins again.
func (r *holesReader) rewind() { *r = holesReader{file: r.file} }

// hasHoles reports whether a file takes up less than its size, so that looking
// for holes is worthwhile.
func (s *stat) hasHoles() bool { return s.exact && s.mode.IsRegular() && s.blocks*512 < s.size }

// hasHole reports whether there is a hole before a file's end.
func hasHole(file *os.File, size int64) bool {
	at, err := file.Seek(0, unix.SEEK_HOLE)
	_, back := file.Seek(0, io.SeekStart)
	return err == nil && back == nil && at < size
}
