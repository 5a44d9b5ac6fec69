//go:build !unix

package transfer

import (
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
)

// takeOver returns the permissions of the file that a new one will replace.
func takeOver(_ *os.File, old fs.FileInfo) (fs.FileMode, error) { return old.Mode().Perm(), nil }

// owns reports that it is not known.
func (r *restorer) owns(fs.FileInfo, *attributes.Owner) bool { return false }
