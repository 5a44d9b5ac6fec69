//go:build linux

package mount

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// regular is a file's node.
type regular struct {
	fs.Inode
	view *view
	who  *identity
}

// handle is a file that a program opened.
type handle struct {
	file   *file
	writes bool // a reader's close commits nothing and so can't fail
	append bool
}

func newHandle(f *file, flags uint32) *handle {
	h := &handle{f, flags&syscall.O_ACCMODE != syscall.O_RDONLY, flags&syscall.O_APPEND != 0}
	if h.writes {
		f.writers.Add(1)
	}
	return h
}

var (
	_ fs.NodeOpener      = (*regular)(nil)
	_ fs.NodeReader      = (*regular)(nil)
	_ fs.NodeWriter      = (*regular)(nil)
	_ fs.NodeFlusher     = (*regular)(nil)
	_ fs.NodeFsyncer     = (*regular)(nil)
	_ fs.NodeReleaser    = (*regular)(nil)
	_ fs.NodeGetattrer   = (*regular)(nil)
	_ fs.NodeSetattrer   = (*regular)(nil)
	_ fs.NodeStatfser    = (*regular)(nil)
	_ fs.NodeOnForgetter = (*regular)(nil)
)

// Open implements fs.NodeOpener.
func (r *regular) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY && !r.view.writable {
		return nil, 0, syscall.EROFS
	}
	f, err := r.view.open(r.who)
	if err != nil {
		return nil, 0, errnoOf(err)
	}
	if flags&syscall.O_TRUNC != 0 && flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		if err := f.truncate(0); err != nil {
			f.release()
			return nil, 0, errnoOf(err)
		}
		f.setWriter(threadOf(ctx))
	}
	var how uint32
	if !r.view.live {
		how = fuse.FOPEN_KEEP_CACHE
	}
	if flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		how |= fuse.FOPEN_NOFLUSH // there is nothing to commit
	}
	return newHandle(f, flags), how, 0
}

// Read implements fs.NodeReader.
func (r *regular) Read(_ context.Context, h fs.FileHandle, p []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n, err := h.(*handle).file.readAt(p, offset)
	if err != nil {
		return nil, errnoOf(err)
	}
	return fuse.ReadResultData(p[:n]), 0
}

// Write implements fs.NodeWriter.
func (r *regular) Write(ctx context.Context, h fs.FileHandle, p []byte, offset int64) (uint32, syscall.Errno) {
	opened := h.(*handle)
	if opened.append {
		offset = -1
	}
	n, err := opened.file.writeAt(p, offset, threadOf(ctx))
	if n > 0 {
		return uint32(n), 0
	}
	return 0, errnoOf(err)
}

// Flush implements fs.NodeFlusher: it is what close waits for.
func (r *regular) Flush(ctx context.Context, h fs.FileHandle) syscall.Errno {
	opened := h.(*handle)
	if !opened.writes {
		return 0
	}
	return errnoOf(opened.file.flush(threadOf(ctx)))
}

// threadOf returns the number of the thread whose call a request is.
func threadOf(ctx context.Context) uint32 {
	if caller, ok := fuse.FromContext(ctx); ok {
		return caller.Pid
	}
	return 0
}

// OnForget implements fs.NodeOnForgetter.
func (r *regular) OnForget() { r.view.forgotten(r.who) }

// Fsync implements fs.NodeFsyncer.
func (r *regular) Fsync(_ context.Context, h fs.FileHandle, _ uint32) syscall.Errno {
	return errnoOf(h.(*handle).file.commit())
}

// Release implements fs.NodeReleaser.
func (r *regular) Release(_ context.Context, h fs.FileHandle) syscall.Errno {
	opened := h.(*handle)
	if opened.writes {
		opened.file.writers.Add(-1)
	}
	opened.file.release()
	return 0
}

// Getattr implements fs.NodeGetattrer.
func (r *regular) Getattr(_ context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var m meta
	if opened, ok := h.(*handle); ok {
		m = opened.file.stat()
	} else {
		var err error
		if m, err = r.view.statFile(r.who); err != nil {
			return errnoOf(err)
		}
	}
	r.view.fill(r.who.number, &m, &out.Attr)
	return 0
}

// Setattr implements fs.NodeSetattrer.
func (r *regular) Setattr(_ context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := r.view.mayChange(in); errno != 0 {
		return errno
	}
	var f *file
	if opened, ok := h.(*handle); ok {
		f = opened.file
	} else {
		var err error
		if f, err = r.view.open(r.who); err != nil {
			return errnoOf(err)
		}
		defer f.release()
	}
	if size, ok := in.GetSize(); ok {
		if err := f.truncate(int64(size)); err != nil {
			return errnoOf(err)
		}
	}
	if mode, ok := in.GetMode(); ok {
		f.setMode(mode & 0o7777)
	}
	if t, ok := timeOf(in); ok {
		f.setTime(t)
	}
	if h == nil && !f.awaitsClose() {
		// For a change by name nothing else comes.
		if err := f.commit(); err != nil {
			return errnoOf(err)
		}
	}
	m := f.stat()
	r.view.fill(r.who.number, &m, &out.Attr)
	return 0
}

// Statfs implements fs.NodeStatfser.
func (r *regular) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return r.view.statfs(out)
}

func (v *view) getattr(entity int64, out *fuse.AttrOut) syscall.Errno {
	m, err := v.stat(entity)
	if err != nil {
		return errnoOf(err)
	}
	v.fill(entity, &m, &out.Attr)
	return 0
}

// mayChange refuses what can't be changed: everything in the past, and owners.
func (v *view) mayChange(in *fuse.SetAttrIn) syscall.Errno {
	if !v.writable {
		return syscall.EROFS
	}
	if uid, ok := in.GetUID(); ok && uid != v.uid {
		return syscall.EPERM
	}
	if gid, ok := in.GetGID(); ok && gid != v.gid {
		return syscall.EPERM
	}
	return 0
}

// timeOf returns the time that a change sets the content's to.
func timeOf(in *fuse.SetAttrIn) (time.Time, bool) {
	t, ok := in.GetMTime()
	// What attributes can't write is left as it is.
	return t, ok && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999
}

// statfs describes the disk that the database is on, which fills up first.
func (s *shared) statfs(out *fuse.StatfsOut) syscall.Errno {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.path, &disk); err != nil {
		return errnoOf(err)
	}
	out.FromStatfsT(&disk)
	out.NameLen = maxName
	return 0
}
