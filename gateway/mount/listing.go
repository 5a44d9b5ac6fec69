//go:build linux

package mount

import (
	"context"
	"iter"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust"
)

// listing reads a directory, one page of the tree after another. An offset is
// how many entries come before it.
type listing struct {
	view      *view
	directory *directory

	mu sync.Mutex
	at uint64
	// made are the files that were not in the database when the list began: they
	// come first, and not again if they came into the database since.
	made    map[string]bool
	waiting []*file
	next    func() (stardust.Described, error, bool)
	stop    func()
	// last is what Lookup is asked for next, if it is of the database; began and
	// changes say how old it may be.
	last    *stardust.Described
	began   time.Time
	changes int64
}

var (
	_ fs.FileReaddirenter = (*listing)(nil)
	_ fs.FileLookuper     = (*listing)(nil)
	_ fs.FileFsyncdirer   = (*listing)(nil)
	_ fs.FileSeekdirer    = (*listing)(nil)
	_ fs.FileReleasedirer = (*listing)(nil)
)

// Readdirent implements fs.FileReaddirenter.
func (l *listing) Readdirent(context.Context) (*fuse.DirEntry, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.step()
}

func (l *listing) step() (*fuse.DirEntry, syscall.Errno) {
	if l.next == nil {
		l.begin()
	}
	if len(l.waiting) > 0 {
		f := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.at++
		l.last = nil
		return &fuse.DirEntry{Name: f.name, Mode: syscall.S_IFREG, Ino: number(f.who.number, 0), Off: l.at}, 0
	}
	record, err, ok := l.next()
	for ok && err == nil && (len(record.Name) > maxName || l.made[record.Name]) {
		if len(record.Name) > maxName {
			l.view.log.Warn("a name is too long for the mount", "entity", record.Entity, "directory", l.directory.entity)
		}
		record, err, ok = l.next()
	}
	if !ok {
		return nil, 0
	}
	if err != nil {
		return nil, errnoOf(err)
	}
	l.at++
	mode := uint32(syscall.S_IFREG)
	if record.Kind == stardust.KindDirectory {
		mode = syscall.S_IFDIR
	} else if record.File.Symlink {
		mode = syscall.S_IFLNK
	}
	l.last = &record
	return &fuse.DirEntry{Name: record.Name, Mode: mode, Ino: number(l.view.numberOf(record.Entity), l.view.revision), Off: l.at}, 0
}

func (l *listing) begin() {
	l.began, l.changes = l.view.now(), l.view.changes.Load()
	l.made, l.waiting = make(map[string]bool), nil
	for name, f := range l.view.allWaiting(l.directory.entity) {
		l.made[name] = true
		l.waiting = append(l.waiting, f)
	}
	l.next, l.stop = iter.Pull2(l.view.tree.DescribedChildren(l.directory.entity))
}

// Lookup implements fs.FileLookuper. The list has told what the database has; it may
// have been written since.
func (l *listing) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.Name != name || l.old() || l.view.openFile(l.last.Entity) != nil {
		return l.directory.Lookup(ctx, name, out)
	}
	m := l.view.metaWith(&l.last.Record, &l.last.File)
	return l.view.node(ctx, l.directory.EmbeddedInode(), l.view.identityOf(l.last.Entity), &m, out), 0
}

// old says that what the list told may not be so any more: this mount changed
// something, or another process may have.
func (l *listing) old() bool {
	return l.view.live && (l.view.changes.Load() != l.changes || l.view.now().Sub(l.began) >= time.Second)
}

// Fsyncdir implements fs.FileFsyncdirer: the names of files that are still open come
// into the database, too.
func (l *listing) Fsyncdir(context.Context, uint32) syscall.Errno {
	for _, f := range l.view.allWaiting(l.directory.entity) {
		if err := f.commit(); err != nil {
			return errnoOf(err)
		}
	}
	return 0
}

// Seekdir implements fs.FileSeekdirer.
func (l *listing) Seekdir(_ context.Context, offset uint64) syscall.Errno {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.at || offset == 0 {
		l.end()
		l.at = 0
	}
	for l.at < offset {
		if entry, errno := l.step(); errno != 0 || entry == nil {
			return errno
		}
	}
	return 0
}

// Releasedir implements fs.FileReleasedirer.
func (l *listing) Releasedir(context.Context, uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *listing) end() {
	if l.stop != nil {
		l.stop()
	}
	l.next, l.stop = nil, nil
}
