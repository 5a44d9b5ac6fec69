package vfs

import "iter"

// Op names an operation of an FS for a [Faulty]'s hook.
type Op string

// The operations. Those after Lock happen on an open File or Writer.
const (
	OpMkdirAll Op = "mkdir"
	OpOpen     Op = "open"
	OpCreate   Op = "create"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpList     Op = "list"
	OpLock     Op = "lock"
	OpRead     Op = "read"
	OpWrite    Op = "write"
	OpTruncate Op = "truncate"
	OpFinish   Op = "finish"
)

// Faulty is an FS over another that asks a hook before every operation and
// fails with the error that it returns. The hook is called concurrently; it
// may also wait, or only count.
type Faulty struct {
	fs   FS
	hook func(op Op, name string) error
}

// NewFaulty returns a Faulty over fs. The name that hook is given is the one
// the operation was called with; for Rename it is the new one.
func NewFaulty(fs FS, hook func(op Op, name string) error) *Faulty {
	return &Faulty{fs, hook}
}

// MkdirAll implements FS.
func (f *Faulty) MkdirAll(dir string) error {
	if err := f.hook(OpMkdirAll, dir); err != nil {
		return err
	}
	return f.fs.MkdirAll(dir)
}

// Open implements FS.
func (f *Faulty) Open(name string) (File, error) {
	if err := f.hook(OpOpen, name); err != nil {
		return nil, err
	}
	file, err := f.fs.Open(name)
	if err != nil {
		return nil, err
	}
	return &faultyFile{file, f, name}, nil
}

// Create implements FS.
func (f *Faulty) Create(name string) (Writer, error) {
	if err := f.hook(OpCreate, name); err != nil {
		return nil, err
	}
	w, err := f.fs.Create(name)
	if err != nil {
		return nil, err
	}
	return &faultyWriter{w, f, name}, nil
}

// Rename implements FS.
func (f *Faulty) Rename(from, to string) error {
	if err := f.hook(OpRename, to); err != nil {
		return err
	}
	return f.fs.Rename(from, to)
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	if err := f.hook(OpRemove, name); err != nil {
		return err
	}
	return f.fs.Remove(name)
}

// List implements FS.
func (f *Faulty) List(dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := f.hook(OpList, dir); err != nil {
			yield(Entry{}, err)
			return
		}
		f.fs.List(dir)(yield)
	}
}

// Lock implements FS.
func (f *Faulty) Lock(name string) (Lock, error) {
	if err := f.hook(OpLock, name); err != nil {
		return nil, err
	}
	return f.fs.Lock(name)
}

type faultyFile struct {
	File
	faulty *Faulty
	name   string
}

func (f *faultyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.faulty.hook(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

type faultyWriter struct {
	Writer
	faulty *Faulty
	name   string
}

func (w *faultyWriter) WriteAt(p []byte, off int64) (int, error) {
	if err := w.faulty.hook(OpWrite, w.name); err != nil {
		return 0, err
	}
	return w.Writer.WriteAt(p, off)
}

func (w *faultyWriter) ReadAt(p []byte, off int64) (int, error) {
	if err := w.faulty.hook(OpRead, w.name); err != nil {
		return 0, err
	}
	return w.Writer.ReadAt(p, off)
}

func (w *faultyWriter) Truncate(size int64) error {
	if err := w.faulty.hook(OpTruncate, w.name); err != nil {
		return err
	}
	return w.Writer.Truncate(size)
}

func (w *faultyWriter) Finish() (Info, error) {
	if err := w.faulty.hook(OpFinish, w.name); err != nil {
		return Info{}, err
	}
	return w.Writer.Finish()
}
