//go:build linux

package mount

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// directory is a directory's node.
type directory struct {
	fs.Inode
	view   *view
	entity int64
}

var (
	_ fs.NodeLookuper       = (*directory)(nil)
	_ fs.NodeOpendirHandler = (*directory)(nil)
	_ fs.NodeGetattrer      = (*directory)(nil)
	_ fs.NodeStatfser       = (*directory)(nil)
)

// Lookup implements fs.NodeLookuper.
func (d *directory) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := checkName(name); errno == syscall.EILSEQ {
		return nil, syscall.ENOENT // the tree has no such names
	} else if errno != 0 {
		return nil, errno
	}
	if f := d.view.waiting(d.entity, name); f != nil {
		m := f.stat()
		return d.view.node(ctx, d.EmbeddedInode(), f.who, &m, out), 0
	}
	record, err := d.view.tree.Lookup(d.entity, name)
	if errnoOf(err) == syscall.ENOENT && d.IsRoot() && name == pastName {
		p := &past{shared: d.view.shared}
		p.fill(&out.Attr)
		return d.NewInode(ctx, p, fs.StableAttr{Mode: syscall.S_IFDIR, Ino: pastNumber}), 0
	}
	if err != nil {
		return nil, errnoOf(err)
	}
	var m meta
	if f := d.view.openFile(record.Entity); f != nil {
		m = f.stat()
	} else if m, err = d.view.metaOf(&record); err != nil {
		return nil, errnoOf(err)
	}
	return d.view.node(ctx, d.EmbeddedInode(), d.view.identityOf(record.Entity), &m, out), 0
}

// Getattr implements fs.NodeGetattrer.
func (d *directory) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return d.view.getattr(d.entity, out)
}

// Statfs implements fs.NodeStatfser.
func (d *directory) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return d.view.statfs(out)
}

// OpendirHandle implements fs.NodeOpendirHandler.
func (d *directory) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &listing{view: d.view, directory: d}, 0, 0
}
