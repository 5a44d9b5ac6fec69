package need

import "syscall"

func mount() (string, error) {
	return inTemp(func(dir string) error {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
			return err
		}
		return syscall.Unmount(dir, 0)
	})
}

// attributes asks for what versitygw keeps beside an object's bytes.
func attributes() (string, error) {
	return inTemp(func(dir string) error { return syscall.Setxattr(dir, "user.stardust", []byte("x"), 0) })
}
