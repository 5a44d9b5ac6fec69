//go:build unix && !solaris && !aix

package file

import (
	"errors"
	"os"
	"syscall"
)

// lockFile waits until no other open file holds the lock.
func lockFile(file *os.File) error { return flock(file, syscall.LOCK_EX) }

func unlockFile(file *os.File) error { return flock(file, syscall.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
