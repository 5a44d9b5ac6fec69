package container

// F_OFD_SETLK and F_OFD_GETLK of Darwin's fcntl.h; package unix lacks them.
const (
	setLock = 90
	getLock = 92
)
