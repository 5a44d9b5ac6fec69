//go:build linux

package mount

import (
	"context"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust"
)

// pastName is the directory in the root that has every revision. Listings leave
// it out, and a node of the tree with this name takes precedence.
const pastName = ".stardust"

// past is the directory of revisions. Each is a directory by its number.
type past struct {
	fs.Inode
	shared *shared
}

var (
	_ fs.NodeLookuper  = (*past)(nil)
	_ fs.NodeReaddirer = (*past)(nil)
	_ fs.NodeGetattrer = (*past)(nil)
)

// pastNumber is its inode number, which no entity has.
const pastNumber = 1<<63 - 1

func (p *past) fill(out *fuse.Attr) {
	view := &view{shared: p.shared}
	view.fill(0, &meta{directory: true, mode: 0o555, mtime: p.shared.started}, out)
	out.Ino = pastNumber
}

// Getattr implements fs.NodeGetattrer.
func (p *past) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	p.fill(&out.Attr)
	return 0
}

// Lookup implements fs.NodeLookuper.
func (p *past) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	revision, err := strconv.ParseInt(name, 10, 64)
	if err != nil || revision < 1 || strconv.FormatInt(revision, 10) != name {
		return nil, syscall.ENOENT
	}
	snapshot, err := p.shared.db.AsOf(revision)
	if err != nil {
		return nil, syscall.ENOENT
	}
	v := p.shared.past(snapshot)
	v.revision = revision
	m, err := v.stat(0)
	if err != nil {
		return nil, errnoOf(err)
	}
	m.mode = 0o555
	return v.node(ctx, p.EmbeddedInode(), newIdentity(0), &m, out), 0
}

// Readdir implements fs.NodeReaddirer: there are as many revisions as commits,
// so it lists the latest alone.
func (p *past) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	var latest *stardust.Snapshot
	latest, err := p.shared.db.Snapshot()
	if err != nil {
		return nil, errnoOf(err)
	}
	var list []fuse.DirEntry
	if revision := latest.Revision(); revision > 0 {
		list = append(list, fuse.DirEntry{Name: strconv.FormatInt(revision, 10), Mode: syscall.S_IFDIR, Ino: number(0, revision)})
	}
	return fs.NewListDirStream(list), 0
}
