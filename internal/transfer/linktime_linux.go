package transfer

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setLinkTime sets the time of a symbolic link itself. A file system that cannot
// is no failure.
func setLinkTime(root *os.Root, name string, when time.Time) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing is written through it
	at, err := unix.TimeToTimespec(when)
	if err != nil {
		return err
	}
	err = unix.UtimesNanoAt(int(dir.Fd()), name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}
