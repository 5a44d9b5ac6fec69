//go:build !unix

package transfer

import (
	"io/fs"
	"os"
)

// takeOver gives a new file the permissions of the one that it will replace.
func takeOver(file *os.File, old fs.FileInfo) error { return file.Chmod(old.Mode().Perm()) }
