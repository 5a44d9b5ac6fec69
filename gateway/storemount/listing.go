//go:build linux

package storemount

import (
	"context"
	"iter"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// maxHidden is how many keys that are no paths one listing names in the log.
const maxHidden = 20

// listing is a directory that a program reads. An offset is how many entries come
// before it.
type listing struct {
	directory *directory

	mu     sync.Mutex
	at     uint64
	last   entry // what Lookup is asked for next
	hidden int   // so far
	next   func() (entry, error, bool)
	end    func() // ends next; nil when there is none
	cancel context.CancelFunc
}

var (
	_ fs.FileReaddirenter = (*listing)(nil)
	_ fs.FileLookuper     = (*listing)(nil)
	_ fs.FileFsyncdirer   = (*listing)(nil)
	_ fs.FileSeekdirer    = (*listing)(nil)
	_ fs.FileReleasedirer = (*listing)(nil)
)

// Readdirent implements fs.FileReaddirenter.
func (l *listing) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, errno := l.step(ctx)
	if !ok || errno != 0 {
		return nil, errno
	}
	kind := uint32(syscall.S_IFREG)
	if l.last.directory {
		kind = syscall.S_IFDIR
	}
	return &fuse.DirEntry{Name: l.last.name, Mode: kind, Ino: stableOf(l.directory.prefix+l.last.name, kind).Ino, Off: l.at}, 0
}

// step goes to the next entry. After an error the next step begins the list again
// and goes on where this one failed.
func (l *listing) step(request context.Context) (ok bool, errno syscall.Errno) {
	if l.end == nil {
		skip := l.at
		l.begin(request)
		for l.at = 0; l.at < skip; {
			if ok, errno := l.advance(request); !ok || errno != 0 {
				return ok, errno
			}
		}
	}
	return l.advance(request)
}

func (l *listing) begin(request context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(request))
	l.cancel = cancel
	l.next, l.end = iter.Pull2(level(ctx, l.directory.bucket.store, l.directory.prefix))
	l.hidden = 0
}

func (l *listing) advance(request context.Context) (ok bool, errno syscall.Errno) {
	stop := context.AfterFunc(request, l.cancel)
	defer stop()
	for {
		e, err, ok := l.next()
		switch {
		case err != nil:
			l.close()
			return false, l.directory.bucket.fail("list", l.directory.prefix, err)
		case !ok:
			if l.hidden > maxHidden {
				l.directory.bucket.log.Warn("more keys are no paths", "prefix", l.directory.prefix, "keys", l.hidden-maxHidden)
			}
			l.hidden = 0
			return false, 0
		case e.hidden == "":
			l.at++
			l.last = e
			return true, 0
		}
		if l.hidden++; l.hidden <= maxHidden {
			key := l.directory.prefix + e.name
			if e.directory {
				key += "/"
			}
			l.directory.bucket.log.Warn("a key is no path and is left out", "key", key, "why", e.hidden)
		}
	}
}

// Lookup implements fs.FileLookuper: the list has told everything.
func (l *listing) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.name != name {
		return l.directory.Lookup(ctx, name, out)
	}
	return l.directory.child(ctx, &l.last, out), 0
}

// Fsyncdir implements fs.FileFsyncdirer: there is nothing to write.
func (l *listing) Fsyncdir(context.Context, uint32) syscall.Errno { return 0 }

// Seekdir implements fs.FileSeekdirer.
func (l *listing) Seekdir(ctx context.Context, offset uint64) syscall.Errno {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.at || offset == 0 {
		l.close()
		l.at = 0
	}
	for l.at < offset {
		if ok, errno := l.step(ctx); !ok || errno != 0 {
			return errno
		}
	}
	return 0
}

// Releasedir implements fs.FileReleasedirer.
func (l *listing) Releasedir(context.Context, uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close()
}

func (l *listing) close() {
	if l.end == nil {
		return
	}
	l.cancel()
	l.end()
	l.next, l.end, l.cancel = nil, nil, nil
}
