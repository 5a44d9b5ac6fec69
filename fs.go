package stardust

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"time"
)

// FS returns the tree as a read-only file system of io/fs, with ReadDir, Stat,
// ReadFile and Sub. Its files seek and read at offsets, so http.FS serves
// ranges of them. Every call sees the latest state, or a snapshot's own; take
// the FS of a [Snapshot] for a view that stands still. Modes are 0444 and 0555,
// and modification times are zero. Info.Sys returns a [Record].
//
// Its errors are *fs.PathError around an [Error].
func (v Tree) FS() fs.FS { return treeFS{tree: v} }

// treeFS is the tree beneath a directory.
type treeFS struct {
	tree Tree
	root string // the path of the directory, empty for the root
}

var (
	_ fs.ReadDirFS  = treeFS{}
	_ fs.StatFS     = treeFS{}
	_ fs.ReadFileFS = treeFS{}
	_ fs.SubFS      = treeFS{}
)

func (t treeFS) resolve(op, name string) (Record, error) {
	if !fs.ValidPath(name) {
		return Record{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	path := t.root
	if name != "." {
		path += "/" + name
	}
	r, err := t.tree.Resolve(path)
	var e *Error
	if errors.As(err, &e) && e.Status == StatusInvalidArgument {
		// A file in the middle of a path: to io/fs there is nothing.
		err = &Error{Status: StatusNotFound, Op: e.Op, Message: e.Message}
	}
	if err != nil {
		return r, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return r, nil
}

// Open opens a file or directory.
func (t treeFS) Open(name string) (fs.File, error) {
	r, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	info := fileInfo{r, base(name)}
	if r.Kind == KindDirectory {
		return &openDirectory{fs: t, path: name, info: info}, nil
	}
	stream, err := t.tree.Open(r.Digest)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{stream, info}, nil
}

// Stat describes a file or directory.
func (t treeFS) Stat(name string) (fs.FileInfo, error) {
	r, err := t.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	return fileInfo{r, base(name)}, nil
}

// ReadFile returns the whole content of a file.
func (t treeFS) ReadFile(name string) ([]byte, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, ok := f.(*openFile)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	}
	data, err := file.readAll()
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir lists a directory in name order.
func (t treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	r, err := t.resolve("readdir", name)
	if err != nil {
		return nil, err
	}
	if r.Kind == KindFile {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	var entries []fs.DirEntry
	for child, err := range t.tree.Children(r.Entity) {
		if err != nil {
			return entries, &fs.PathError{Op: "readdir", Path: name, Err: err}
		}
		entries = append(entries, fs.FileInfoToDirEntry(fileInfo{child, child.Name}))
	}
	return entries, nil
}

// Sub returns the tree beneath a directory.
func (t treeFS) Sub(name string) (fs.FS, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "sub", Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return t, nil
	}
	t.root += "/" + name
	return t, nil
}

func base(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return name[i+1:]
		}
	}
	return name
}

// fileInfo shows a record as fs.FileInfo does.
type fileInfo struct {
	Record Record
	name   string
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.Record.Size }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.Record.Kind == KindDirectory }
func (i fileInfo) Sys() any           { return i.Record }

func (i fileInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// openFile is a file of the tree: the reader also seeks and reads at offsets.
type openFile struct {
	*Reader
	info fileInfo
}

// readFileTrust is how much memory ReadFile allocates because a record says so;
// for a larger file it grows with what was really read.
const readFileTrust = 64 << 20

func (f *openFile) readAll() ([]byte, error) {
	size := f.info.Record.Size
	if size > math.MaxInt/2 {
		return nil, &Error{Status: StatusOutOfMemory, Message: "the file does not fit in memory; open it and read parts"}
	}
	if size <= readFileTrust {
		data := make([]byte, size)
		_, err := io.ReadFull(f, data)
		return data, err
	}
	var data bytes.Buffer
	data.Grow(readFileTrust)
	_, err := f.WriteTo(&data)
	return data.Bytes(), err
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// openDirectory is a directory being read.
type openDirectory struct {
	fs     treeFS
	path   string
	info   fileInfo
	loaded bool
	closed bool
	rest   []fs.DirEntry
}

func (d *openDirectory) Stat() (fs.FileInfo, error) { return d.info, nil }

func (d *openDirectory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: errors.New("is a directory")}
}

func (d *openDirectory) Close() error {
	d.closed = true
	return nil
}

// ReadDir returns the next n entries, or all that are left when n <= 0.
func (d *openDirectory) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.closed {
		return nil, &fs.PathError{Op: "readdir", Path: d.path, Err: fs.ErrClosed}
	}
	if !d.loaded {
		entries, err := d.fs.ReadDir(d.path)
		if err != nil {
			return nil, err
		}
		d.rest, d.loaded = entries, true
	}
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out, nil
}
