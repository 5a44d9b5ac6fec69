//go:build linux

package mount

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/fusemount"
)

// Options say how to mount. A nil pointer means the zero value.
type Options struct {
	// Snapshot shows the tree as it was, read-only. Nil is the latest state.
	Snapshot *stardust.Snapshot
	// ReadOnly lets nobody write.
	ReadOnly bool
	// AllowOther lets other users in, where /etc/fuse.conf says user_allow_other
	// or the user is root. Permissions bind them.
	AllowOther bool
	// Drafts is the directory for what is written and not committed yet; it takes
	// as much room as programs write between two commits of a file. The files have
	// no names and end with the process. Empty is the database's own directory.
	Drafts string
	// Log gets errors that no program can be told. Nil drops them.
	Log *slog.Logger
	// Now is the clock for the times of new and written files; nil means time.Now.
	Now func() time.Time
}

// Mount is a mounted database.
type Mount struct {
	shared *shared
	mount  *fusemount.Mount
}

// New mounts a database on a directory. It returns once programs can use it. The
// database must stay open until Unmount returned or Wait did.
//
// It returns an error when the directory can't be mounted on: it is missing or no
// directory, /dev/fuse or the program fusermount3 is missing, or the system
// refuses.
func New(db *stardust.DB, dir string, options *Options) (*Mount, error) {
	if options == nil {
		options = new(Options)
	}
	info, err := db.Info()
	if err != nil {
		return nil, err
	}
	s := newShared(db, info.Path, options)
	top := &view{shared: s, tree: db.Tree(), live: true, writable: !options.ReadOnly}
	if options.Snapshot != nil {
		top = s.past(options.Snapshot)
		top.revision = 0 // its nodes have the inode numbers of the latest state
	}
	flags := []string{"default_permissions"}
	if !top.writable {
		flags = append(flags, "ro")
	}
	second := time.Second
	m, err := fusemount.New(dir, &directory{view: top}, &fs.Options{
		MountOptions: fuse.MountOptions{
			AllowOther: options.AllowOther, Options: flags, FsName: info.Path, Name: "stardust",
			MaxWrite: 1 << 20, MaxReadAhead: 1 << 20, DisableXAttrs: true,
			ExtraCapabilities: fuse.CAP_ATOMIC_O_TRUNC, // emptying and writing a file is one commit
			Logger:            slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		},
		EntryTimeout: &second, AttrTimeout: &second, NullPermissions: true,
		UID: s.uid, GID: s.gid,
		RootStableAttr: &fs.StableAttr{Ino: number(0, 0)},
	})
	if err != nil {
		return nil, err
	}
	return &Mount{s, m}, nil
}

// Wait returns once the directory is unmounted, by Unmount or by the system's
// umount, and everything that can be committed is. The error says what could
// not be.
func (m *Mount) Wait() error {
	m.mount.Wait()
	return m.shared.commitAll()
}

// Unmount commits what programs wrote, and unmounts. Programs that still have
// files open there get an error from then on. It returns what Wait does.
func (m *Mount) Unmount() error {
	first := m.shared.commitAll()
	if err := m.mount.Unmount(); err != nil {
		return errors.Join(first, err)
	}
	// What failed is tried again, and programs may have written since.
	return m.shared.commitAll()
}

// shared is what all nodes of a mount have in common.
type shared struct {
	db       *stardust.DB
	path     string // of the database
	drafts   string
	uid, gid uint32
	now      func() time.Time
	started  time.Time // stands for times that nothing is known of
	log      *slog.Logger

	changes atomic.Int64 // commits of this mount

	mu       sync.Mutex
	files    map[int64]*file // open or not committed, by entity and by number, of the latest state
	unborn   unborn
	made     map[int64]*identity // of the files that this mount made and the kernel knows, by entity
	lastMade int64               // the number of the last one
	moved    map[int64]time.Time // when entries of directories changed, by entity
	empty    *stardust.Digest
}

func newShared(db *stardust.DB, path string, options *Options) *shared {
	s := &shared{
		db: db, path: path, drafts: options.Drafts, log: options.Log, now: options.Now,
		uid: uint32(os.Getuid()), gid: uint32(os.Getgid()), files: make(map[int64]*file),
		unborn: make(unborn), made: make(map[int64]*identity), moved: make(map[int64]time.Time),
	}
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // the default clock
	}
	s.started = s.now()
	if s.drafts == "" {
		s.drafts = filepath.Dir(path)
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// commitAll commits the files that programs have open.
func (s *shared) commitAll() error {
	s.mu.Lock()
	all := make(map[*file]bool)
	for _, f := range s.files {
		all[f] = true
	}
	s.mu.Unlock()
	var failed []error
	for f := range all {
		if err := f.commit(); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f.what(), err))
		}
	}
	if err := s.keepMoved(); err != nil {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// emptyPayload returns the digest of the payload without bytes, published.
func (s *shared) emptyPayload() (*stardust.Digest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty == nil {
		published, err := publish(s.db.Tree(), nil)
		if err != nil {
			return nil, err
		}
		s.empty = &published.Digest
	}
	return s.empty, nil
}

// publish stores bytes as a payload.
func publish(tree stardust.Tree, content []byte) (stardust.Published, error) {
	upload, err := tree.Upload()
	if err != nil {
		return stardust.Published{}, err
	}
	defer upload.Close()
	if _, err := upload.Write(content); err != nil {
		return stardust.Published{}, err
	}
	return upload.Finish()
}
