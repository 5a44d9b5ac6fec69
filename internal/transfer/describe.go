package transfer

import (
	"io/fs"

	"github.com/stardustdb/stardust/internal/attributes"
)

// describe returns what a file system knows of a file or directory besides its
// name and content. Some know neither permissions nor times; of these it returns
// nil.
func (im *importer) describe(s *stat) []byte {
	f := attributes.File{MTime: s.mtime}
	switch {
	case s.mode.Type() == fs.ModeSymlink:
		f.Type = attributes.Symlink // whose permissions say nothing
	case s.mode.Perm() == 0 && s.mtime.IsZero():
		return nil
	default:
		f.SetMode(s.mode)
	}
	text, err := f.Encode()
	if err != nil {
		return nil // of nothing that is set here
	}
	return text
}
