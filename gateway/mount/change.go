//go:build linux

package mount

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/stardustdb/stardust"
)

var (
	_ fs.NodeCreater   = (*directory)(nil)
	_ fs.NodeMkdirer   = (*directory)(nil)
	_ fs.NodeMknoder   = (*directory)(nil)
	_ fs.NodeSymlinker = (*directory)(nil)
	_ fs.NodeLinker    = (*directory)(nil)
	_ fs.NodeUnlinker  = (*directory)(nil)
	_ fs.NodeRmdirer   = (*directory)(nil)
	_ fs.NodeRenamer   = (*directory)(nil)
	_ fs.NodeSetattrer = (*directory)(nil)
)

// mayMake refuses a name for a new node.
func (d *directory) mayMake(name string) syscall.Errno {
	switch {
	case !d.view.writable:
		return syscall.EROFS
	case d.view.waiting(d.entity, name) != nil:
		return syscall.EEXIST
	}
	return checkName(name)
}

// make makes a node that is whole from the start.
func (d *directory) make(name string, digest *stardust.Digest, m *meta) (*stardust.Record, syscall.Errno) {
	made, err := d.view.tree.Create(stardust.NewNode{Name: name, Parent: d.entity, Digest: digest, File: m.kept()})
	if err != nil {
		return nil, errnoOf(err)
	}
	d.view.touch(d.entity)
	return &made[0], 0
}

// Create implements fs.NodeCreater. The file is in the database once it is closed.
func (d *directory) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f, errno := d.createFile(name, mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	f.setWriter(threadOf(ctx))
	m := f.stat()
	return d.view.node(ctx, d.EmbeddedInode(), f.who, &m, out), newHandle(f, flags), 0, 0
}

// createFile makes an empty file and opens it. The kernel makes one of a directory's
// names at a time.
func (d *directory) createFile(name string, mode uint32) (*file, syscall.Errno) {
	if errno := d.mayMake(name); errno != 0 {
		return nil, errno
	}
	if _, err := d.view.tree.Lookup(d.entity, name); err == nil {
		return nil, syscall.EEXIST
	} else if errno := errnoOf(err); errno != syscall.ENOENT {
		return nil, errno
	}
	now := d.view.now()
	d.view.touch(d.entity)
	return d.view.conceive(d.entity, name, mode&0o7777, now), 0
}

// Mknod implements fs.NodeMknoder, for regular files. Nothing closes them, so they
// are in the database at once.
func (d *directory) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if kind := mode & syscall.S_IFMT; kind != syscall.S_IFREG && kind != 0 {
		return nil, syscall.EPERM
	}
	f, errno := d.createFile(name, mode)
	if errno != 0 {
		return nil, errno
	}
	defer f.release()
	if err := f.commit(); err != nil {
		f.giveUp()
		return nil, errnoOf(err)
	}
	m := f.stat()
	return d.view.node(ctx, d.EmbeddedInode(), f.who, &m, out), 0
}

// Mkdir implements fs.NodeMkdirer.
func (d *directory) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := d.mayMake(name); errno != 0 {
		return nil, errno
	}
	m := meta{directory: true, mode: mode & 0o7777, mtime: d.view.now()}
	record, errno := d.make(name, nil, &m)
	if errno != 0 {
		return nil, errno
	}
	return d.view.node(ctx, d.EmbeddedInode(), newIdentity(record.Entity), &m, out), 0
}

// Symlink implements fs.NodeSymlinker.
func (d *directory) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := d.mayMake(name); errno != 0 {
		return nil, errno
	}
	if target == "" || len(target) > maxTarget {
		return nil, syscall.ENAMETOOLONG
	}
	published, err := publish(d.view.tree, []byte(target))
	if err != nil {
		return nil, errnoOf(err)
	}
	m := meta{symlink: true, size: published.Size, mode: 0o777, mtime: d.view.now()}
	record, errno := d.make(name, &published.Digest, &m)
	if errno != 0 {
		return nil, errno
	}
	return d.view.node(ctx, d.EmbeddedInode(), newIdentity(record.Entity), &m, out), 0
}

// Link implements fs.NodeLinker: it refuses, since a file has one name.
func (d *directory) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// Unlink implements fs.NodeUnlinker. Who has the file open keeps it.
func (d *directory) Unlink(_ context.Context, name string) syscall.Errno {
	return d.remove(name, false)
}

// Rmdir implements fs.NodeRmdirer.
func (d *directory) Rmdir(_ context.Context, name string) syscall.Errno {
	return d.remove(name, true)
}

func (d *directory) remove(name string, isDirectory bool) syscall.Errno {
	if !d.view.writable {
		return syscall.EROFS
	}
	if f := d.view.waiting(d.entity, name); f != nil {
		if isDirectory {
			return syscall.ENOTDIR
		}
		if f.unbornRemoved() {
			d.view.touch(d.entity)
			return 0
		}
	}
	record, err := d.view.tree.Lookup(d.entity, name)
	if err != nil {
		return errnoOf(err)
	}
	switch kind := record.Kind == stardust.KindDirectory; {
	case isDirectory && !kind:
		return syscall.ENOTDIR
	case !isDirectory && kind:
		return syscall.EISDIR
	case kind && len(d.view.allWaiting(record.Entity)) > 0:
		return syscall.ENOTEMPTY
	}
	d.view.describe(record.Entity)
	err = d.view.tree.Remove(record.Entity, 0)
	if errnoOf(err) == syscall.ENOSPC && d.view.discard(record.Entity) {
		// The file's own draft may be what fills the disk.
		err = d.view.tree.Remove(record.Entity, 0)
	}
	if err != nil {
		return errnoOf(err)
	}
	d.view.gone(&record)
	d.view.touch(d.entity)
	return 0
}

// gone takes note that a node has no name any more.
func (v *view) gone(record *stardust.Record) {
	if record.Kind == stardust.KindDirectory {
		v.untouch(record.Entity)
		return
	}
	v.forget(record.Entity)
}

// describe has a file that is open know its mode and time before the database
// forgets them.
func (v *view) describe(entity int64) {
	if f := v.openFile(entity); f != nil {
		f.stat()
	}
}

// discard gives up what could not be committed of a file that nobody has open,
// and reports whether there was anything.
func (v *view) discard(entity int64) bool {
	f := v.openFile(entity)
	if f == nil {
		return false
	}
	v.mu.Lock()
	open := f.opens > 0
	v.mu.Unlock()
	if open {
		return false
	}
	f.giveUp()
	f.end()
	return true
}

// forget says that a file that may be open has no name any more.
func (v *view) forget(entity int64) {
	if f := v.openFile(entity); f != nil {
		f.remove()
		f.end()
	}
}

// Rename implements fs.NodeRenamer.
func (d *directory) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(*directory)
	if !ok || !d.view.writable || !to.view.writable {
		return syscall.EROFS
	}
	if flags&^unix.RENAME_NOREPLACE != 0 {
		return syscall.EINVAL // exchanging two takes more than one commit
	}
	if errno := checkName(newName); errno != 0 {
		return errno
	}
	if f := d.view.waiting(d.entity, name); f != nil {
		// It gets its first name, and then the other one.
		if err := f.commit(); err != nil {
			return errnoOf(err)
		}
	}
	record, err := d.view.tree.Lookup(d.entity, name)
	if err != nil {
		return errnoOf(err)
	}
	over, unlock := to.view.held(to.entity, newName)
	defer unlock()
	replaced, err := d.view.tree.Lookup(to.entity, newName)
	there := err == nil || over != nil
	switch {
	case there && flags&unix.RENAME_NOREPLACE != 0:
		return syscall.EEXIST
	case err == nil && replaced.Kind != record.Kind && replaced.Kind == stardust.KindDirectory:
		return syscall.EISDIR
	case there && record.Kind == stardust.KindDirectory && (err != nil || replaced.Kind != record.Kind):
		return syscall.ENOTDIR
	case err == nil && replaced.Kind == stardust.KindDirectory && len(d.view.allWaiting(replaced.Entity)) > 0:
		return syscall.ENOTEMPTY
	}
	if err == nil {
		d.view.describe(replaced.Entity)
	}
	if _, err := d.view.tree.Move(record.Entity, to.entity, newName, 0, flags&unix.RENAME_NOREPLACE == 0); err != nil {
		return errnoOf(err)
	}
	d.view.touch(d.entity)
	d.view.touch(to.entity)
	switch {
	case over != nil:
		over.bury()
	case err == nil && replaced.Entity != record.Entity:
		d.view.gone(&replaced)
	}
	return 0
}

// Setattr implements fs.NodeSetattrer. The root has no attributes.
func (d *directory) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := d.view.mayChange(in); errno != 0 {
		return errno
	}
	var c change
	if mode, ok := in.GetMode(); ok {
		mode &= 0o7777
		c.mode = &mode
	}
	if t, ok := timeOf(in); ok {
		c.mtime = &t
	}
	if d.entity != 0 && c != (change{}) {
		if err := d.view.apply(d.entity, &c); err != nil {
			return errnoOf(err)
		}
		if c.mtime != nil {
			d.view.untouch(d.entity)
		}
	}
	return d.view.getattr(d.entity, out)
}
