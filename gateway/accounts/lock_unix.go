//go:build unix && !solaris && !aix

package accounts

import (
	"errors"
	"os"
	"syscall"
)

// flock waits until no other open file of the same name is locked. The lock ends
// when the file is closed or its process ends.
func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
