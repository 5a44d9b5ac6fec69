//go:build linux

package mount

import (
	"io"
	"os"
	"slices"
)

// draft is a file's content while it is written: an unchanging base, and what
// was written over it, in a file on disk without a name. Ranges in neither are
// zeros. It is not safe for concurrent use, except reads.
type draft struct {
	base     io.ReaderAt // nil when baseSize is 0
	baseSize int64       // how much of the base still counts
	disk     *os.File
	spans    []span // the ranges that disk has, in order, not touching
	size     int64
}

// span is a range of bytes.
type span struct{ from, to int64 }

func newDraft(dir string, base io.ReaderAt, size int64) (*draft, error) {
	disk, err := os.CreateTemp(dir, ".stardust-draft-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(disk.Name()); err != nil {
		_ = disk.Close()
		return nil, err
	}
	return &draft{base: base, baseSize: size, disk: disk, size: size}, nil
}

func (d *draft) close() { _ = d.disk.Close() } // its content is not wanted

// rebase makes the whole content the base, after it was stored.
func (d *draft) rebase(base io.ReaderAt) {
	d.base, d.baseSize, d.spans = base, d.size, nil
	_ = d.disk.Truncate(0) // gives room back; nothing reads it
}

// ReadAt implements io.ReaderAt.
func (d *draft) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset >= d.size {
		return 0, io.EOF
	}
	short := false
	if int64(len(p)) > d.size-offset {
		p, short = p[:d.size-offset], true
	}
	i, _ := slices.BinarySearchFunc(d.spans, offset, func(s span, at int64) int {
		if s.to <= at {
			return -1
		}
		return 1
	})
	for n < len(p) {
		at, end := offset+int64(n), offset+int64(len(p))
		written := i < len(d.spans) && d.spans[i].from <= at
		if written {
			end = min(end, d.spans[i].to)
		} else if i < len(d.spans) {
			end = min(end, d.spans[i].from)
		}
		part := p[n : n+int(end-at)]
		if written {
			_, err = d.disk.ReadAt(part, at)
			i++
		} else {
			err = d.readBase(part, at)
		}
		if err != nil {
			return n, err
		}
		n += len(part)
	}
	if short {
		return n, io.EOF
	}
	return n, nil
}

// readBase reads a range that was not written.
func (d *draft) readBase(p []byte, offset int64) error {
	have := int(min(int64(len(p)), max(0, d.baseSize-offset)))
	clear(p[have:])
	if have == 0 {
		return nil
	}
	if n, err := d.base.ReadAt(p[:have], offset); n < have {
		return err
	}
	return nil
}

// WriteAt implements io.WriterAt. After an error nothing counts as written.
func (d *draft) WriteAt(p []byte, offset int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if n, err := d.disk.WriteAt(p, offset); err != nil {
		// What reached the disk may lie in a range that is in use.
		if n > 0 {
			d.wrote(span{offset, offset + int64(n)})
		}
		return n, err
	}
	d.wrote(span{offset, offset + int64(len(p))})
	return len(p), nil
}

// wrote notes a range of the disk that is in use from now on.
func (d *draft) wrote(s span) {
	d.size = max(d.size, s.to)
	first, _ := slices.BinarySearchFunc(d.spans, s.from, func(other span, at int64) int {
		if other.to < at {
			return -1
		}
		return 1
	})
	last := first
	for last < len(d.spans) && d.spans[last].from <= s.to {
		s.from, s.to = min(s.from, d.spans[last].from), max(s.to, d.spans[last].to)
		last++
	}
	d.spans = slices.Replace(d.spans, first, last, s)
}

// truncate cuts the content, or fills it up with zeros.
func (d *draft) truncate(size int64) {
	if size < d.size {
		_ = d.disk.Truncate(size) // gives room back; what follows counts no more
		d.baseSize = min(d.baseSize, size)
		for n := len(d.spans); n > 0 && d.spans[n-1].to > size; n-- {
			if d.spans[n-1].from < size {
				d.spans[n-1].to = size
				break
			}
			d.spans = d.spans[:n-1]
		}
	}
	d.size = size
}
