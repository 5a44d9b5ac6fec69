//go:build linux

package mount

import (
	"context"
	"iter"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust"
)

// listing reads a directory, one page of the tree after another. An offset is
// how many entries come before it.
type listing struct {
	view   *view
	entity int64

	mu sync.Mutex
	at uint64
	// made are the files that were not in the database when the list began: they
	// come first, and not again if they came into the database since.
	made    map[string]bool
	waiting []*file
	next    func() (stardust.Record, error, bool)
	stop    func()
}

var (
	_ fs.FileReaddirenter = (*listing)(nil)
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
		return &fuse.DirEntry{Name: f.name, Mode: syscall.S_IFREG, Ino: number(f.who.number, 0), Off: l.at}, 0
	}
	record, err, ok := l.next()
	for ok && err == nil && (len(record.Name) > maxName || l.made[record.Name]) {
		if len(record.Name) > maxName {
			l.view.log.Warn("a name is too long for the mount", "entity", record.Entity, "directory", l.entity)
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
	} else if kept, err := l.view.tree.FileAttributes(record.Entity); err == nil && kept.Symlink {
		mode = syscall.S_IFLNK
	}
	return &fuse.DirEntry{Name: record.Name, Mode: mode, Ino: number(l.view.numberOf(record.Entity), l.view.revision), Off: l.at}, 0
}

func (l *listing) begin() {
	l.made, l.waiting = make(map[string]bool), nil
	for name, f := range l.view.allWaiting(l.entity) {
		l.made[name] = true
		l.waiting = append(l.waiting, f)
	}
	l.next, l.stop = iter.Pull2(l.view.tree.Children(l.entity))
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
