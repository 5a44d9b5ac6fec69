package vfs

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a byte far beyond the contents, since a Windows lock keeps
// others from reading what it covers.
func lockFile(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func removeFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "remove", Path: name, Err: windows.ERROR_ACCESS_DENIED}
	}
	return os.Remove(name)
}

func newStatter(*os.File) func(fs.DirEntry) (Info, error) {
	return func(name fs.DirEntry) (Info, error) {
		info, err := name.Info()
		if err != nil {
			return Info{}, err
		}
		return Info{Size: info.Size(), ModTime: info.ModTime()}, nil
	}
}

// OpenFileLimit returns how many files this process may have open.
func OpenFileLimit() int { return 1 << 14 }
