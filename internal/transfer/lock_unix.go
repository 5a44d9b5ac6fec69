//go:build unix && !solaris && !aix

package transfer

import (
	"os"
	"syscall"
)

// renamesOpen says that an open file can be renamed.
const renamesOpen = true

// lock takes a lock that lasts until the file is closed or the process ends. It
// reports whether it holds it, and whether somebody else does; neither is so on
// a file system without locks.
func lock(f *os.File) (held, taken bool) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return err == nil, err == syscall.EWOULDBLOCK
}
