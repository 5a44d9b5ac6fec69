//go:build linux

package mount

import (
	"context"
	"io"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// link is the node of a symbolic link, whose target is its content.
type link struct {
	fs.Inode
	view   *view
	entity int64
}

var (
	_ fs.NodeReadlinker = (*link)(nil)
	_ fs.NodeGetattrer  = (*link)(nil)
	_ fs.NodeSetattrer  = (*link)(nil)
)

// maxTarget is the longest target that Linux takes.
const maxTarget = 4095

// Readlink implements fs.NodeReadlinker.
func (l *link) Readlink(context.Context) ([]byte, syscall.Errno) {
	record, err := l.view.tree.Get(l.entity)
	if err != nil {
		return nil, errnoOf(err)
	}
	if record.Size > maxTarget {
		return nil, syscall.EIO
	}
	reader, err := l.view.tree.Open(record.Digest)
	if err != nil {
		return nil, errnoOf(err)
	}
	defer reader.Close()
	target, err := io.ReadAll(reader)
	return target, errnoOf(err)
}

// Getattr implements fs.NodeGetattrer.
func (l *link) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return l.view.getattr(l.entity, out)
}

// Setattr implements fs.NodeSetattrer.
func (l *link) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := l.view.mayChange(in); errno != 0 {
		return errno
	}
	if t, ok := timeOf(in); ok {
		if err := l.view.apply(l.entity, &change{mtime: &t}); err != nil {
			return errnoOf(err)
		}
	}
	return l.view.getattr(l.entity, out)
}
