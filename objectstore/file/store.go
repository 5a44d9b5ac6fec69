package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// Folder is the reserved folder in a store's root, which holds what plain files
// cannot say. No object's path begins with it.
const Folder = ".stardust"

// What is in the reserved folder.
const (
	tempDir    = Folder + "/tmp"
	metaDir    = Folder + "/meta"
	uploadsDir = Folder + "/uploads"
	locksDir   = Folder + "/locks"
)

// maxTempAge is how old a temporary file must be before Open takes it for one
// left by a crash. A younger one may be another process's upload.
const maxTempAge = 24 * time.Hour

// Options are the options of [Open]. Nil means the zero value.
type Options struct {
	// MustExist makes Open fail with ErrNotFound when the directory does not
	// exist; otherwise Open makes it.
	MustExist bool
	// NoSync leaves out the fsync calls: a write that returned survives the
	// end of the process, but perhaps not that of the machine.
	NoSync bool
	// MinPartSize is the least size in bytes of every part of a multipart
	// upload but the last. Zero means none.
	MinPartSize int64
	// Now is the clock of LastModified; nil means time.Now.
	Now func() time.Time
}

// Store keeps objects as files. It implements [objectstore.MultipartStore] and
// [objectstore.TagReader], and may be used concurrently, also by several
// processes on one directory. Rename is atomic, except in mode Create, where
// both names exist for a moment. Bodies that it returns are
// [objectstore.FileBody]. Close it when done.
type Store struct {
	dir     string
	root    *os.Root
	options Options
	locks   locks
	escapes error // what root says of names that lead out of it
	// lastTime is the latest modification time given out, in nanoseconds.
	lastTime atomic.Int64
	buffers  sync.Pool // of *[]byte
}

var (
	_ objectstore.MultipartStore     = (*Store)(nil)
	_ objectstore.TagReader          = (*Store)(nil)
	_ objectstore.ConditionalDeleter = (*Store)(nil)
)

// Open returns the store in dir. It changes nothing in a directory that exists,
// except that it removes temporary files that a crash left there a day ago.
func Open(dir string, options *Options) (*Store, error) {
	s := &Store{}
	if options != nil {
		s.options = *options
	}
	if s.options.Now == nil {
		s.options.Now = time.Now //nolint:forbidigo // the default clock
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpOpen, Store: dir, Err: err}
	}
	s.dir = absolute
	if !s.options.MustExist {
		if err := os.MkdirAll(absolute, 0o777); err != nil {
			return nil, s.fail(objectstore.OpOpen, "", err)
		}
	}
	if s.root, err = os.OpenRoot(absolute); err != nil {
		return nil, s.fail(objectstore.OpOpen, "", err)
	}
	s.locks.root, s.escapes = s.root, escapeError(s.root)
	s.buffers.New = func() any { b := make([]byte, 256<<10); return &b }
	s.removeOldTemps()
	return s, nil
}

// Close releases what the store holds open. Bodies that it returned stay
// readable. Calls after Close fail with ErrClosed.
func (s *Store) Close() error {
	return errors.Join(s.locks.close(), s.root.Close())
}

// String returns the store's URL.
func (s *Store) String() string { return "file://" + filepath.ToSlash(s.dir) }

// removeOldTemps is best effort: the files do no harm but take space.
func (s *Store) removeOldTemps() {
	dir, err := s.root.Open(tempDir)
	if err != nil {
		return
	}
	defer dir.Close()
	oldest := time.Now().Add(-maxTempAge) //nolint:forbidigo // the file system has this clock
	for {
		entries, err := dir.ReadDir(1000)
		for _, entry := range entries {
			name := tempDir + "/" + entry.Name()
			if info, err := s.root.Lstat(name); err == nil && info.ModTime().Before(oldest) {
				_ = s.root.RemoveAll(name) // a file, or the folder of an ended upload
			}
		}
		if err != nil || len(entries) == 0 {
			return
		}
	}
}

// stat describes the object at path, or returns nil when there is none.
func (s *Store) stat(path objectstore.Path) (*objectstore.ObjectMeta, error) {
	info, err := s.root.Stat(fileName(path))
	switch {
	case s.isMissing(err), err == nil && !info.Mode().IsRegular():
		return nil, nil
	case err != nil:
		return nil, err
	}
	meta := describe(path, info)
	return &meta, nil
}

func describe(path objectstore.Path, info fs.FileInfo) objectstore.ObjectMeta {
	return objectstore.ObjectMeta{Path: path, Size: info.Size(), LastModified: info.ModTime(), ETag: etag(info)}
}

func check(ctx context.Context, paths ...objectstore.Path) error {
	return objectstore.CheckPaths(ctx, checkPath, paths...)
}

// etag is unique to a version of a file, see the package comment.
func etag(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x-%x", inode(info), info.ModTime().UnixNano(), info.Size())
}

// The last digit of the nanoseconds of a file's modification time says whether
// there are details of this version, so that reads of the many objects without
// any need not look for them. Other digits, of foreign files and of file systems
// with coarse times, say nothing. Details are only ever kept for versions whose
// time does not end in plainDigit.
const (
	plainDigit    = 2
	detailedDigit = 1
)

// isPlain reports whether the version with this modification time has no details.
func isPlain(modified time.Time) bool { return modified.Nanosecond()%10 == plainDigit }

// nextTime returns the current time, but later than what it returned before,
// and with the last digit that says whether there are details.
func (s *Store) nextTime(detailed bool) time.Time {
	digit := int64(plainDigit)
	if detailed {
		digit = detailedDigit
	}
	for {
		last, now := s.lastTime.Load(), s.options.Now().UnixNano()
		now = max(now, last)
		now += 10 - now%10 + digit
		if s.lastTime.CompareAndSwap(last, now) {
			return time.Unix(0, now)
		}
	}
}
