package s3test

import "syscall"

// checkAttributes finds out whether files in dir can have extended attributes.
// The server's own fallback, files beside them, does not keep objects and their
// metadata together when they are overwritten.
func checkAttributes(dir string) error {
	return syscall.Setxattr(dir, "user.stardust", []byte("x"), 0)
}
