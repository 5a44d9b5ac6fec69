//go:build linux

package storemount

import (
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust/gateway/internal/fusemount"
	"github.com/stardustdb/stardust/objectstore"
)

// DefaultRefresh is how long names and sizes are taken for current.
const DefaultRefresh = 10 * time.Second

// Options say how to mount. A nil pointer means the zero value.
type Options struct {
	// Refresh is how long the kernel answers programs from what it knows of names,
	// sizes and times before the store is asked again. Zero is DefaultRefresh.
	Refresh time.Duration
	// AllowOther lets other users in, where /etc/fuse.conf says user_allow_other
	// or the user is root.
	AllowOther bool
	// Log gets what can't be told to any program, such as keys that are no paths.
	// Nil drops it.
	Log *slog.Logger
	// Now is the clock that says how old names are; nil means time.Now.
	Now func() time.Time
}

// Mount is a mounted store.
type Mount struct{ mount *fusemount.Mount }

// New mounts a store on a directory, read-only. It returns once programs can use
// it. The store must stay open until Unmount returned or Wait did.
//
// It returns an error when the directory can't be mounted on: it is missing or no
// directory, /dev/fuse or the program fusermount3 is missing, or the system
// refuses. The store is not asked for anything.
func New(store objectstore.Store, dir string, options *Options) (*Mount, error) {
	if options == nil {
		options = new(Options)
	}
	b := &bucket{
		store: store, refresh: options.Refresh, log: options.Log, now: options.Now,
		uid: uint32(os.Getuid()), gid: uint32(os.Getgid()),
	}
	if b.now == nil {
		b.now = time.Now //nolint:forbidigo // the default clock
	}
	b.started = b.now()
	if b.refresh == 0 {
		b.refresh = DefaultRefresh
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	root := fs.StableAttr{Mode: syscall.S_IFDIR, Ino: 1}
	m, err := fusemount.New(dir, &directory{bucket: b}, &fs.Options{
		MountOptions: fuse.MountOptions{
			AllowOther: options.AllowOther, Options: []string{"default_permissions", "ro"}, FsName: store.String(), Name: "stardust",
			MaxReadAhead: 1 << 20, DisableXAttrs: true,
			Logger: slog.NewLogLogger(b.log.Handler(), slog.LevelDebug),
		},
		EntryTimeout: &b.refresh, AttrTimeout: &b.refresh, NegativeTimeout: &b.refresh,
		UID: b.uid, GID: b.gid,
		RootStableAttr: &root,
	})
	if err != nil {
		return nil, err
	}
	return &Mount{m}, nil
}

// Wait returns when the directory is mounted no more, be it by Unmount or by the
// system's umount.
func (m *Mount) Wait() { m.mount.Wait() }

// Unmount takes the directory away. Programs that still have files open there get
// an error from then on.
func (m *Mount) Unmount() error { return m.mount.Unmount() }

// bucket is what all nodes of a mount have in common.
type bucket struct {
	store    objectstore.Store
	refresh  time.Duration
	log      *slog.Logger
	now      func() time.Time
	started  time.Time // stands for the times of directories
	uid, gid uint32
}

func (b *bucket) fillDirectory(out *fuse.Attr) {
	out.Mode = syscall.S_IFDIR | 0o555
	out.Nlink = 1
	out.Uid, out.Gid = b.uid, b.gid
	out.SetTimes(&b.started, &b.started, &b.started)
}

func (b *bucket) fillObject(meta *objectstore.ObjectMeta, out *fuse.Attr) {
	out.Mode = syscall.S_IFREG | 0o444
	out.Nlink = 1
	out.Size = uint64(meta.Size)
	out.Blocks = (out.Size + 511) / 512
	out.Blksize = 1 << 17
	out.Uid, out.Gid = b.uid, b.gid
	modified := meta.LastModified
	if modified.IsZero() {
		modified = b.started
	}
	out.SetTimes(&modified, &modified, &modified)
}
