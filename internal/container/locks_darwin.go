package container

// setLock is F_OFD_SETLK of Darwin's fcntl.h; package unix lacks it.
const setLock = 90
