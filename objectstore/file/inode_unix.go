//go:build unix

package file

import (
	"io/fs"
	"syscall"
)

// inode returns the number of the file that info describes.
func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino) //nolint:unconvert // its type differs between systems
	}
	return 0
}

// openNonblock keeps an open of a named pipe from waiting for its writer.
const openNonblock = syscall.O_NONBLOCK
