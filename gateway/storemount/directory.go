//go:build linux

package storemount

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"syscall"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust/objectstore"
)

// directory is the node of a prefix.
type directory struct {
	fs.Inode
	bucket *bucket
	prefix string // of its keys: empty or ending in "/"
}

var (
	_ fs.NodeLookuper       = (*directory)(nil)
	_ fs.NodeOpendirHandler = (*directory)(nil)
	_ fs.NodeGetattrer      = (*directory)(nil)
	_ fs.NodeStatfser       = (*directory)(nil)
)

// Lookup implements fs.NodeLookuper.
func (d *directory) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	switch {
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	case !utf8.ValidString(name) || len(d.prefix)+len(name) > objectstore.MaxPathLength:
		return nil, syscall.ENOENT // no key is
	}
	found, ok, err := find(ctx, d.bucket.store, d.prefix, name)
	switch {
	case err != nil:
		return nil, d.bucket.fail("look up", d.prefix+name, err)
	case !ok:
		return nil, syscall.ENOENT
	}
	return d.child(ctx, &found, out), 0
}

// child returns the kernel's node of an entry.
func (d *directory) child(ctx context.Context, e *entry, out *fuse.EntryOut) *fs.Inode {
	key := d.prefix + e.name
	if e.directory {
		d.bucket.fillDirectory(&out.Attr)
		return d.known(ctx, e.name, &directory{bucket: d.bucket, prefix: key + "/"}, stableOf(key, syscall.S_IFDIR))
	}
	d.bucket.fillObject(&e.object, &out.Attr)
	stable := stableOf(key, syscall.S_IFREG)
	node := d.known(ctx, e.name, &object{bucket: d.bucket, key: objectstore.Path(key)}, stable)
	node.Operations().(*object).learn(&e.object, d.bucket.now())
	return node
}

// known returns the node that the kernel knows already, or one of ops.
func (d *directory) known(ctx context.Context, name string, ops fs.InodeEmbedder, stable fs.StableAttr) *fs.Inode {
	if child := d.GetChild(name); child != nil && child.StableAttr() == stable {
		return child
	}
	return d.NewInode(ctx, ops, stable)
}

// stableOf is the identity of a node. Inode number and generation together are so
// many bits of a digest that no two keys share them.
func stableOf(key string, kind uint32) fs.StableAttr {
	sum := sha256.Sum256([]byte(key))
	ino := binary.LittleEndian.Uint64(sum[:])>>1 | 2 // not the root's, nor zero
	return fs.StableAttr{Mode: kind, Ino: ino, Gen: binary.LittleEndian.Uint64(sum[8:])}
}

// Getattr implements fs.NodeGetattrer.
func (d *directory) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	d.bucket.fillDirectory(&out.Attr)
	return 0
}

// Statfs implements fs.NodeStatfser. A store has no size.
func (d *directory) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return d.bucket.statfs(out)
}

// OpendirHandle implements fs.NodeOpendirHandler.
func (d *directory) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return &listing{directory: d}, 0, 0
}

func (b *bucket) statfs(out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.NameLen = 1<<17, 1<<17, maxName
	return 0
}

// fail logs what a program learns as a number alone.
func (b *bucket) fail(did, key string, err error) syscall.Errno {
	errno := errnoOf(err)
	if errno == syscall.EIO || errno == syscall.EACCES || errno == syscall.ETIMEDOUT {
		b.log.Error("a call of a program failed", "did", did, "key", key, "error", err)
	}
	return errno
}
