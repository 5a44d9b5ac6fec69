package vfs

import (
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// simFile is a File of a Simulated.
type simFile struct {
	fs     *Simulated
	life   *life
	node   *inode
	name   string
	closed bool
}

// usable returns the error of an operation on a closed file, or one that the
// program's end has closed. fs.mu is held.
func (f *simFile) usable(op string) error {
	switch {
	case f.life.dead:
		return fail(op, f.name, syscall.EIO)
	case f.closed:
		return fail(op, f.name, fs.ErrClosed)
	}
	return nil
}

func (f *simFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.usable("read"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fail("read", f.name, syscall.EINVAL)
	}
	if off >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simFile) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.close()
}

func (f *simFile) close() error {
	if f.closed || f.life.dead {
		return nil
	}
	f.closed = true
	f.node.opens--
	f.fs.reclaim(f.node)
	return nil
}

// simWriter is a Writer of a Simulated.
type simWriter struct{ simFile }

func (w *simWriter) WriteAt(p []byte, off int64) (int, error) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if err := w.usable("write"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fail("write", w.name, syscall.EINVAL)
	}
	if err := w.resize(max(int64(len(w.node.data)), off+int64(len(p)))); err != nil {
		return 0, err
	}
	copy(w.node.data[off:], p)
	w.node.dirty = true
	w.fs.touch(w.node)
	return len(p), nil
}

// maxSimulated is the greatest size of a file in memory.
const maxSimulated = 1 << 30

// resize grows the file with zeros or cuts it. fs.mu is held.
func (w *simWriter) resize(size int64) error {
	have := int64(len(w.node.data))
	if size > maxSimulated {
		return fail("write", w.name, syscall.EFBIG)
	}
	if size > have {
		if c := w.fs.capacity; c >= 0 && w.fs.used+size-have > c {
			return fail("write", w.name, syscall.ENOSPC)
		}
		w.node.data = slices.Grow(w.node.data, int(size-have))[:size]
		clear(w.node.data[have:])
	}
	w.node.data = w.node.data[:size]
	w.fs.used += size - have
	return nil
}

func (w *simWriter) Truncate(size int64) error {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if err := w.usable("truncate"); err != nil {
		return err
	}
	if size < 0 {
		return fail("truncate", w.name, syscall.EINVAL)
	}
	if err := w.resize(size); err != nil {
		return err
	}
	w.node.dirty = true
	w.fs.touch(w.node)
	return nil
}

func (w *simWriter) Finish() (Info, error) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if err := w.usable("finish"); err != nil {
		return Info{}, err
	}
	info := w.node.info
	return info, w.close()
}

// simLock is a Lock of a Simulated.
type simLock struct{ simFile }

func (l *simLock) Contents() ([]byte, error) {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if err := l.usable("read"); err != nil {
		return nil, err
	}
	return slices.Clone(l.node.data), nil
}

func (l *simLock) SetContents(data []byte) error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if err := l.usable("write"); err != nil {
		return err
	}
	w := simWriter{l.simFile}
	if err := w.resize(int64(len(data))); err != nil {
		return err
	}
	copy(l.node.data, data)
	l.fs.touch(l.node)
	l.fs.syncNode(l.node)
	return nil
}

func (l *simLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if !l.closed && !l.life.dead {
		l.node.locked = false
	}
	return l.close()
}
