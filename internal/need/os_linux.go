package need

import (
	"os"
	"syscall"
)

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

func fuse() (string, error) {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	_ = device.Close() // nothing was done with it
	return program("fusermount3")()
}
