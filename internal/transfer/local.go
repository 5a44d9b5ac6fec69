package transfer

import (
	"io"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
)

// Describe returns what is kept of an open local file that is stored by itself.
// The error says what of it can't be kept; the rest is returned with it.
func Describe(file *os.File, p Preserve) (attributes.File, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return attributes.File{}, err
	}
	s := statOf(info)
	f := attributes.File{MTime: s.mtime}
	f.SetMode(s.mode)
	f.Sparse = s.hasHoles() && hasHole(file, s.size)
	if p.Owner && s.exact {
		f.Owner = new(owners).owner(s.uid, s.gid)
	}
	if p.Xattrs {
		f.Xattrs, err = readXattrs(file, p.wantsXattr)
	}
	return f, err
}

// Reader returns a reader of an open local file that makes up what is in its
// holes, where they are known.
func Reader(file *os.File) io.Reader {
	if info, err := file.Stat(); err == nil {
		if s := statOf(info); s.hasHoles() {
			return &holesReader{file: file}
		}
	}
	return file
}
