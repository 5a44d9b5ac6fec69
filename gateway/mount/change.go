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

// make makes a node.
func (d *directory) make(name string, digest *stardust.Digest) (*stardust.Record, syscall.Errno) {
	if !d.view.writable {
		return nil, syscall.EROFS
	}
	if errno := checkName(name); errno != 0 {
		return nil, errno
	}
	made, err := d.view.tree.Create(stardust.NewNode{Name: name, Parent: d.entity, Digest: digest})
	if err != nil {
		return nil, errnoOf(err)
	}
	return &made[0], 0
}

// Create implements fs.NodeCreater. The mode goes with the content's commit.
func (d *directory) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f, errno := d.createFile(name, mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	m := f.stat()
	return d.view.node(ctx, d.EmbeddedInode(), f.entity, &m, out), newHandle(f, flags), 0, 0
}

// createFile makes an empty file and opens it.
func (d *directory) createFile(name string, mode uint32) (*file, syscall.Errno) {
	if !d.view.writable {
		return nil, syscall.EROFS
	}
	empty, err := d.view.emptyPayload()
	if err != nil {
		return nil, errnoOf(err)
	}
	record, errno := d.make(name, empty)
	if errno != 0 {
		return nil, errno
	}
	f, err := d.view.open(record.Entity)
	if err != nil {
		return nil, errnoOf(err)
	}
	f.setMode(mode & 0o7777)
	f.setTime(d.view.now())
	return f, 0
}

// Mknod implements fs.NodeMknoder, for regular files.
func (d *directory) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if kind := mode & syscall.S_IFMT; kind != syscall.S_IFREG && kind != 0 {
		return nil, syscall.EPERM
	}
	f, errno := d.createFile(name, mode)
	if errno != 0 {
		return nil, errno
	}
	defer f.release()
	m := f.stat()
	return d.view.node(ctx, d.EmbeddedInode(), f.entity, &m, out), 0
}

// Mkdir implements fs.NodeMkdirer.
func (d *directory) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	record, errno := d.make(name, nil)
	if errno != 0 {
		return nil, errno
	}
	now := d.view.now()
	m := meta{directory: true, mode: mode & 0o7777, mtime: now}
	if err := d.view.apply(record.Entity, &change{mode: &m.mode, mtime: &now}); err != nil {
		return nil, d.undo(record, err)
	}
	return d.view.node(ctx, d.EmbeddedInode(), record.Entity, &m, out), 0
}

// undo removes a node that its second commit could not finish.
func (d *directory) undo(record *stardust.Record, why error) syscall.Errno {
	if err := d.view.tree.Remove(record.Entity, record.Revision); err != nil {
		d.view.log.Error("a node without its attributes is left", "entity", record.Entity, "error", err)
	}
	return errnoOf(why)
}

// Symlink implements fs.NodeSymlinker.
func (d *directory) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if !d.view.writable {
		return nil, syscall.EROFS
	}
	if target == "" || len(target) > maxTarget {
		return nil, syscall.ENAMETOOLONG
	}
	published, err := publish(d.view.tree, []byte(target))
	if err != nil {
		return nil, errnoOf(err)
	}
	record, errno := d.make(name, &published.Digest)
	if errno != 0 {
		return nil, errno
	}
	now := d.view.now()
	if err := d.view.apply(record.Entity, &change{kind: "symlink", mtime: &now}); err != nil {
		return nil, d.undo(record, err)
	}
	m := meta{symlink: true, size: published.Size, mode: 0o777, mtime: now}
	return d.view.node(ctx, d.EmbeddedInode(), record.Entity, &m, out), 0
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
	record, err := d.view.tree.Lookup(d.entity, name)
	if err != nil {
		return errnoOf(err)
	}
	switch kind := record.Kind == stardust.KindDirectory; {
	case isDirectory && !kind:
		return syscall.ENOTDIR
	case !isDirectory && kind:
		return syscall.EISDIR
	}
	err = d.view.tree.Remove(record.Entity, 0)
	if errnoOf(err) == syscall.ENOSPC && d.view.discard(record.Entity) {
		// The file's own draft may be what fills the disk.
		err = d.view.tree.Remove(record.Entity, 0)
	}
	if err != nil {
		return errnoOf(err)
	}
	d.view.forget(record.Entity)
	return 0
}

// discard gives up what could not be committed of a file that nobody has open,
// and reports whether there was anything.
func (v *view) discard(entity int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[entity]
	if f == nil || f.opens > 0 {
		return false
	}
	delete(v.files, entity)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
	return true
}

// forget says that a file that may be open has no name any more.
func (v *view) forget(entity int64) {
	if f := v.openFile(entity); f != nil {
		f.remove()
		f.view.mu.Lock()
		waited := f.opens == 0 // to be committed
		if waited {
			delete(f.view.files, entity)
		}
		f.view.mu.Unlock()
		if waited {
			f.mu.Lock()
			f.close()
			f.mu.Unlock()
		}
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
	record, err := d.view.tree.Lookup(d.entity, name)
	if err != nil {
		return errnoOf(err)
	}
	replaced, err := d.view.tree.Lookup(to.entity, newName)
	if err == nil && flags&unix.RENAME_NOREPLACE != 0 {
		return syscall.EEXIST
	}
	if err == nil && replaced.Kind != record.Kind {
		if replaced.Kind == stardust.KindDirectory {
			return syscall.EISDIR
		}
		return syscall.ENOTDIR
	}
	if _, err := d.view.tree.Move(record.Entity, to.entity, newName, 0, flags&unix.RENAME_NOREPLACE == 0); err != nil {
		return errnoOf(err)
	}
	if replaced.Entity != 0 && replaced.Entity != record.Entity {
		d.view.forget(replaced.Entity)
	}
	return 0
}

// Setattr implements fs.NodeSetattrer. The root has no attributes.
func (d *directory) Setattr(_ context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
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
	}
	return d.view.getattr(d.entity, h, out)
}
