package transfer

import (
	"io/fs"

	"github.com/stardustdb/stardust/internal/attributes"
)

// describe returns what a file system knows of a file or directory besides its
// name and content. Some know neither permissions nor times; of these it returns
// nil.
func describe(info fs.FileInfo) []byte {
	f := attributes.File{MTime: info.ModTime()}
	if info.Mode().Perm() == 0 && f.MTime.IsZero() {
		return nil
	}
	f.SetMode(info.Mode())
	text, err := f.Encode()
	if err != nil {
		return nil // of nothing that is set here
	}
	return text
}
