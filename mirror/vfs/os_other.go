//go:build !windows && (!unix || solaris || aix)

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lockFile refuses: without a lock that ends with its process, two mirrors
// could ruin each other's directory.
func lockFile(*os.File) error {
	return fmt.Errorf("file locks on this operating system: %w", errors.ErrUnsupported)
}

func removeFile(name string) error { return os.Remove(name) }

func newStatter(*os.File) func(fs.DirEntry) (Info, error) {
	return func(name fs.DirEntry) (Info, error) {
		info, err := name.Info()
		if err != nil {
			return Info{}, err
		}
		return Info{Size: info.Size(), ModTime: info.ModTime()}, nil
	}
}

// OpenFileLimit returns how many files this process may have open.
func OpenFileLimit() int { return 256 }
