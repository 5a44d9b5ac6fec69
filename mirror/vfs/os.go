package vfs

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
)

// OS is the operating system's file system. The zero value is ready to use.
// Writes are not synced to disk, as RFC 0034 says: local copies are
// disposable.
type OS struct{}

// listBatch is how many names List reads at a time, so that a directory of
// millions costs little memory.
const listBatch = 4096

// MkdirAll implements FS. What a mirror keeps is as private as the bucket that it
// comes from: directories and files are their owner's alone.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// Open implements FS; the File is an [OSFile].
func (OS) Open(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Create implements FS.
func (OS) Create(name string) (Writer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &osWriter{File: f}, nil
}

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS. It refuses a directory, which os.Remove would take.
func (OS) Remove(name string) error { return removeFile(name) }

// List implements FS.
func (OS) List(dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		d, err := os.Open(dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer d.Close()
		stat := newStatter(d)
		for {
			names, err := d.ReadDir(listBatch)
			for _, name := range names {
				entry := Entry{Name: name.Name(), Regular: name.Type().IsRegular()}
				if entry.Regular {
					switch entry.Info, err = stat(name); {
					case errors.Is(err, fs.ErrNotExist):
						err = nil
						continue // removed since
					case err != nil:
						yield(Entry{}, err)
						return
					}
				}
				if !yield(entry, nil) {
					return
				}
			}
			switch {
			case errors.Is(err, io.EOF), err == nil && len(names) == 0:
				return
			case err != nil:
				yield(Entry{}, err)
				return
			}
		}
	}
}

// osFile is an OSFile.
type osFile struct{ f *os.File }

func (o osFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }
func (o osFile) Close() error                            { return o.f.Close() }
func (o osFile) File() *os.File                          { return o.f }

type osWriter struct {
	*os.File
	closed bool
}

func (w *osWriter) Finish() (Info, error) {
	info, err := w.Stat()
	if err = errors.Join(err, w.Close()); err != nil {
		return Info{}, err
	}
	return Info{Size: info.Size(), ModTime: info.ModTime()}, nil
}

func (w *osWriter) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.File.Close()
}

// Lock implements FS.
func (OS) Lock(name string) (Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: name, Err: err}, f.Close())
	}
	return &osLock{f}, nil
}

type osLock struct{ f *os.File }

// maxLockContents bounds what Contents reads of a file that is not ours.
const maxLockContents = 64 << 10

func (l *osLock) Contents() ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(l.f, 0, maxLockContents))
}

func (l *osLock) SetContents(data []byte) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	if _, err := l.f.WriteAt(data, 0); err != nil {
		return err
	}
	return l.f.Sync()
}

func (l *osLock) Close() error { return l.f.Close() }
