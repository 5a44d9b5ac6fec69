package transfer

import (
	"io/fs"
	"time"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/transfer/fileindex"
)

// stat is what a file system says of a file, at a moment.
type stat struct {
	mode  fs.FileMode
	size  int64
	mtime time.Time
	// exact says that ctime and inode are known: what no program can set, and
	// tells one file from another that took its place.
	exact  bool
	ctime  int64 // nanoseconds since 1970
	inode  uint64
	device uint64
	uid    uint32
	gid    uint32
	links  uint64 // names that the file has
	blocks int64  // of 512 bytes that it takes up
}

// granularity is how coarse the times of file systems are at most: of a file that
// changed since, they may not say that it changed once more.
const granularity = 2 * time.Second

// entry returns what an index keeps of a file that is looked at now.
func (s *stat) entry(name string, now time.Time) fileindex.Entry {
	e := fileindex.Entry{
		Name: name, Size: s.size, MTime: s.mtime.UnixNano(), CTime: s.ctime, Inode: s.inode, Mode: attributes.ModeBits(s.mode),
		Racy: now.Sub(time.Unix(0, s.ctime)) < granularity,
	}
	switch s.mode.Type() {
	case fs.ModeDir:
		e.Kind = fileindex.Directory
	case fs.ModeSymlink:
		e.Kind = fileindex.Link
	}
	return e
}

// unchanged reports whether a file is as an index says, so that it need not be
// read.
func (s *stat) unchanged(e *fileindex.Entry) bool {
	if !s.exact || e.Racy || e.Size != s.size || e.CTime != s.ctime || e.Inode != s.inode || e.MTime != s.mtime.UnixNano() {
		return false
	}
	if e.Mode != attributes.ModeBits(s.mode) {
		return false
	}
	switch e.Kind {
	case fileindex.Directory:
		return false
	case fileindex.Link:
		return s.mode.Type() == fs.ModeSymlink
	default:
		return s.mode.IsRegular()
	}
}

// sameDirectory reports whether a directory has the permissions and the time that
// an index knows.
func (s *stat) sameDirectory(e *fileindex.Entry) bool {
	return s.exact && s.mode.IsDir() && e.Kind == fileindex.Directory && e.CTime == s.ctime && e.Mode == attributes.ModeBits(s.mode) &&
		e.MTime == s.mtime.UnixNano()
}
