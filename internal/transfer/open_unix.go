//go:build unix

package transfer

import "syscall"

// openNonblock is the flag to open a file without waiting for others.
const openNonblock = syscall.O_NONBLOCK
