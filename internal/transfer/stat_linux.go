package transfer

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stardustdb/stardust/internal/attributes"
)

// statOf returns what a file system said of a file.
func statOf(info fs.FileInfo) stat {
	s := stat{mode: info.Mode(), size: info.Size(), mtime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.exact, s.ctime, s.inode, s.device = true, st.Ctim.Nano(), st.Ino, uint64(st.Dev) //nolint:unconvert // differs by system
		s.uid, s.gid = st.Uid, st.Gid
		s.links, s.blocks = uint64(st.Nlink), int64(st.Blocks) //nolint:unconvert // as above
	}
	return s
}

// statIn describes a name in an open directory, without following a link.
func statIn(dir *os.File, name string) (s stat, err error) {
	var st unix.Stat_t
	for {
		err = unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return s, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	s = stat{
		mode: attributes.FileMode(st.Mode), size: st.Size, mtime: time.Unix(st.Mtim.Unix()),
		exact: true, ctime: st.Ctim.Nano(), inode: st.Ino, device: uint64(st.Dev), //nolint:unconvert // differs by system
		uid: st.Uid, gid: st.Gid,
		links: uint64(st.Nlink), blocks: int64(st.Blocks), //nolint:unconvert // as above
	}
	for _, kind := range [...]struct {
		bits uint32
		mode fs.FileMode
	}{
		{unix.S_IFDIR, fs.ModeDir},
		{unix.S_IFLNK, fs.ModeSymlink},
		{unix.S_IFIFO, fs.ModeNamedPipe},
		{unix.S_IFSOCK, fs.ModeSocket},
		{unix.S_IFBLK, fs.ModeDevice},
		{unix.S_IFCHR, fs.ModeDevice | fs.ModeCharDevice},
	} {
		if st.Mode&unix.S_IFMT == kind.bits {
			s.mode |= kind.mode
		}
	}
	return s, nil
}

// readNames reads up to n names of a directory, and says that statIn describes
// them; otherwise the directory has to be read in another way.
func readNames(f fs.File, n int) (dir *os.File, names []string, err error) {
	dir, ok := f.(*os.File)
	if !ok {
		return nil, nil, nil
	}
	names, err = dir.Readdirnames(n)
	return dir, names, err
}
