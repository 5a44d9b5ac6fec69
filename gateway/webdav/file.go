package webdav

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"mime"
	"os"
	"path"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

// file is a file or directory open for reading.
type file struct {
	files  *files
	record stardust.Record
	reader *patience.Reader
	// next and stop go through a directory's children.
	next func() (stardust.Record, error, bool)
	stop func()
}

func (f *file) open() error {
	if f.reader != nil {
		return nil
	}
	if f.record.Kind == stardust.KindDirectory {
		return f.files.fail("read", f.record.Name, fs.ErrInvalid)
	}
	var err error
	f.reader, err = patience.Open(f.files.ctx, f.files.tree, f.record.Digest)
	return err
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	return f.reader.Read(p)
}

// Seek implements io.Seeker.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	if err := f.open(); err != nil {
		return 0, err
	}
	return f.reader.Seek(offset, whence)
}

// Write implements io.Writer.
func (f *file) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// Stat implements fs.File.
func (f *file) Stat() (os.FileInfo, error) { return f.files.info(f.record) }

// Readdir implements http.File.
func (f *file) Readdir(count int) ([]os.FileInfo, error) {
	if f.next == nil {
		f.next, f.stop = iter.Pull2(f.files.tree.Children(f.record.Entity))
	}
	var infos []os.FileInfo
	for count <= 0 || len(infos) < count {
		record, err, more := f.next()
		if !more {
			if count > 0 && len(infos) == 0 {
				return nil, io.EOF
			}
			return infos, nil
		}
		if err != nil {
			return infos, f.files.fail("readdir", f.record.Name, err)
		}
		one, err := f.files.info(record)
		if err != nil {
			return infos, err
		}
		infos = append(infos, one)
	}
	return infos, nil
}

// Close implements io.Closer.
func (f *file) Close() error {
	if f.stop != nil {
		f.stop()
	}
	if f.reader != nil {
		return f.reader.Close()
	}
	return nil
}

// newFile is a file that is put, or the copy of another.
type newFile struct {
	files  *files
	name   string
	parent stardust.Record
	base   string
	record stardust.Record
	done   bool // written, or failed
}

// ReadFrom implements io.ReaderFrom: the file appears once all of it was read.
func (n *newFile) ReadFrom(from io.Reader) (int64, error) {
	n.done = true
	var err error
	if source, ok := from.(*file); ok {
		n.record, err = n.copy(source.record.Digest)
	} else {
		n.record, err = n.files.handler.lanes.Put(n.files.ctx, n.files.tree, n.files.grant.Path(n.name), from, nil, n.files.interrupt)
	}
	if err == nil {
		err = n.files.keepTime(n.record)
	}
	return n.record.Size, n.files.fail("write", n.name, err)
}

// copy gives the file the content of another.
func (n *newFile) copy(d stardust.Digest) (stardust.Record, error) {
	n.files.replaced = ""
	if old, err := n.files.tree.Lookup(n.parent.Entity, n.base); err == nil {
		return n.files.tree.Update(old.Entity, d, 0)
	}
	made, err := n.files.tree.Create(stardust.NewNode{Name: n.base, Parent: n.parent.Entity, Digest: &d})
	if err != nil {
		return stardust.Record{}, err
	}
	return made[0], nil
}

// Write implements io.Writer; ReadFrom is what is used.
func (n *newFile) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return 0, fs.ErrPermission
}

// Read implements io.Reader.
func (n *newFile) Read([]byte) (int, error) { return 0, fs.ErrPermission }

// Seek implements io.Seeker.
func (n *newFile) Seek(int64, int) (int64, error) { return 0, fs.ErrPermission }

// Readdir implements http.File.
func (n *newFile) Readdir(int) ([]os.FileInfo, error) { return nil, fs.ErrInvalid }

// Stat implements fs.File.
func (n *newFile) Stat() (os.FileInfo, error) {
	if !n.done {
		if _, err := n.ReadFrom(strings.NewReader("")); err != nil {
			return nil, err
		}
	}
	return n.files.info(n.record)
}

// Close implements io.Closer. A file to which nothing was written is empty.
func (n *newFile) Close() error {
	if n.done {
		return nil
	}
	_, err := n.ReadFrom(strings.NewReader(""))
	return err
}

// info describes a node as a file system does.
type info struct {
	record   stardust.Record
	modified time.Time
}

func (f *files) info(record stardust.Record) (os.FileInfo, error) {
	attributes, err := f.tree.FileAttributes(record.Entity)
	if err != nil {
		return nil, f.fail("stat", record.Name, err)
	}
	when := attributes.ModTime
	if when.IsZero() {
		if when, err = f.handler.times.Of(f.handler.db, record.Revision); err != nil {
			return nil, f.fail("stat", record.Name, err)
		}
	}
	return &info{record, when}, nil
}

func (i *info) Name() string {
	if i.record.Entity == 0 {
		return "/"
	}
	return i.record.Name
}
func (i *info) Size() int64        { return i.record.Size }
func (i *info) ModTime() time.Time { return i.modified }
func (i *info) IsDir() bool        { return i.record.Kind == stardust.KindDirectory }
func (i *info) Sys() any           { return nil }

func (i *info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ETag implements webdav.ETager: the digest, as everywhere.
func (i *info) ETag(context.Context) (string, error) {
	return `"` + i.record.Digest.String() + `"`, nil
}

// ContentType implements webdav.ContentTyper, so that no content is read to
// guess it.
func (i *info) ContentType(context.Context) (string, error) {
	if kind := mime.TypeByExtension(strings.ToLower(path.Ext(i.record.Name))); kind != "" {
		return kind, nil
	}
	return "application/octet-stream", nil
}
