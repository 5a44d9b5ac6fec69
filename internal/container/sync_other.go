//go:build !linux

package container

import "os"

// syncFile makes a file's bytes and its size durable. On Darwin this is
// F_FULLFSYNC.
func syncFile(f *os.File) error { return f.Sync() }
