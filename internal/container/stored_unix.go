//go:build unix

package container

import (
	"io/fs"
	"syscall"
)

// storedBytes returns how much of the file system a file takes.
func storedBytes(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}
