//go:build linux

package storemount

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust/objectstore"
)

// object is the node of an object.
type object struct {
	fs.Inode
	bucket *bucket
	key    objectstore.Path

	mu    sync.Mutex
	meta  objectstore.ObjectMeta // the latest that is known
	known time.Time              // when it was
	pages objectstore.ObjectMeta // the version that the kernel may have pages of
}

var (
	_ fs.NodeOpener    = (*object)(nil)
	_ fs.NodeReader    = (*object)(nil)
	_ fs.NodeReleaser  = (*object)(nil)
	_ fs.NodeGetattrer = (*object)(nil)
	_ fs.NodeStatfser  = (*object)(nil)
)

// learn notes what was told of the object, and reports whether it is what was known.
func (o *object) learn(meta *objectstore.ObjectMeta, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.meta
	o.meta, o.known = *meta, now
	return same(&before, meta)
}

// Getattr implements fs.NodeGetattrer.
func (o *object) Getattr(ctx context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if r, ok := h.(*reading); ok {
		o.bucket.fillObject(&r.meta, &out.Attr)
		return 0
	}
	o.mu.Lock()
	meta, known := o.meta, o.known
	o.mu.Unlock()
	if o.bucket.now().Sub(known) >= o.bucket.refresh {
		var err error
		if meta, err = objectstore.Head(ctx, o.bucket.store, o.key); err != nil {
			return o.bucket.fail("stat", string(o.key), err)
		}
		o.learn(&meta, o.bucket.now())
	}
	o.bucket.fillObject(&meta, &out.Attr)
	return 0
}

// Statfs implements fs.NodeStatfser.
func (o *object) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	return o.bucket.statfs(out)
}

// Open implements fs.NodeOpener. What programs read is of one version; the kernel
// keeps the pages that it has of that.
func (o *object) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		return nil, 0, syscall.EROFS
	}
	r, err := openReading(ctx, o.bucket.store, o.key)
	if err != nil {
		return nil, 0, o.bucket.fail("open", string(o.key), err)
	}
	if !o.learn(&r.meta, o.bucket.now()) {
		// The kernel took another size from a list. It can't say that it never
		// heard of the node, so its answer tells nothing.
		_ = o.NotifyContent(0, 0)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var keep uint32
	if same(&o.pages, &r.meta) {
		keep = fuse.FOPEN_KEEP_CACHE
	}
	o.pages = r.meta
	return r, keep, 0
}

// Read implements fs.NodeReader.
func (o *object) Read(ctx context.Context, h fs.FileHandle, p []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n, err := h.(*reading).readAt(ctx, p, offset)
	if err != nil {
		return nil, o.bucket.fail("read", string(o.key), err)
	}
	return fuse.ReadResultData(p[:n]), 0
}

// Release implements fs.NodeReleaser.
func (o *object) Release(_ context.Context, h fs.FileHandle) syscall.Errno {
	h.(*reading).close()
	return 0
}
