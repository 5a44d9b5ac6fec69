package container

import "golang.org/x/sys/unix"

const (
	setLock = unix.F_OFD_SETLK
	getLock = unix.F_OFD_GETLK
)
