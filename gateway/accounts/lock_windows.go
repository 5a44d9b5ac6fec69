package accounts

import (
	"os"

	"golang.org/x/sys/windows"
)

// flock waits until no other open file of the same name is locked. The lock ends
// when the file is closed or its process ends.
func flock(file *os.File) error {
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped))
	return os.NewSyscallError("LockFileEx", err)
}
