//go:build linux || darwin

package container

import (
	"errors"

	"golang.org/x/sys/unix"
)

// taken reports whether somebody else has a lock exclusively, or at all.
func (l *locks) taken(at int64) (bool, error) {
	for {
		query := unix.Flock_t{Type: unix.F_RDLCK, Start: at, Len: 1}
		err := unix.FcntlFlock(l.file.Fd(), getLock, &query)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return query.Type != unix.F_UNLCK, err
	}
}

// set takes a lock, or turns a shared one into an exclusive one, at once or
// not at all. The lock belongs to the open descriptor, not to the process: it
// works between Containers of one process too.
func (l *locks) set(at int64, exclusive bool) error {
	kind := int16(unix.F_RDLCK)
	if exclusive {
		kind = unix.F_WRLCK
	}
	for {
		err := unix.FcntlFlock(l.file.Fd(), setLock, &unix.Flock_t{Type: kind, Start: at, Len: 1})
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return errLockTaken
		}
		return err
	}
}
