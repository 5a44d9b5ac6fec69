//go:build unix && !solaris && !aix

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile locks by open file description: a second open of the same file in
// this process is another owner, and the lock ends with the process.
func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}

func removeFile(name string) error {
	if err := unix.Unlink(name); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

// newStatter returns a stat relative to the open directory: the kernel need
// not walk its path again for each of millions of names.
func newStatter(dir *os.File) func(fs.DirEntry) (Info, error) {
	fd := int(dir.Fd())
	return func(name fs.DirEntry) (Info, error) {
		var st unix.Stat_t
		for {
			err := unix.Fstatat(fd, name.Name(), &st, unix.AT_SYMLINK_NOFOLLOW)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				return Info{}, &fs.PathError{Op: "stat", Path: name.Name(), Err: err}
			}
			return Info{Size: st.Size, ModTime: time.Unix(st.Mtim.Unix())}, nil
		}
	}
}

// OpenFileLimit returns how many files this process may have open.
func OpenFileLimit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
