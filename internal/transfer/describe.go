package transfer

import (
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
)

// describe sets what a file system knows of a file or directory besides its
// name and content: nothing, if it knows neither permissions nor times. open,
// which may be nil, is the file.
func (im *importer) describe(item *Item, open fs.File) {
	s := &item.stat
	f := attributes.File{MTime: s.mtime, Sparse: item.holes}
	item.Speaks = im.o.Preserve.members()
	if s.exact {
		item.Speaks |= attributes.MemberSparse
	}
	switch {
	case s.mode.Type() == fs.ModeSymlink:
		f.Type = attributes.Symlink // whose permissions say nothing
	case s.mode.Perm() == 0 && s.mtime.IsZero():
		return
	default:
		f.SetMode(s.mode)
	}
	if im.o.Preserve.Owner && s.exact {
		f.Owner = im.owners.owner(s.uid, s.gid)
	}
	if im.o.Preserve.HardLinks && s.linked() {
		f.Link = s.inodeText()
	}
	if file, ok := open.(*os.File); ok && im.o.Preserve.Xattrs {
		var err error
		if f.Xattrs, err = readXattrs(file, im.o.Preserve.wantsXattr); err != nil {
			im.fail(item.path, err)
			item.stat.exact = false // the next import tries again
		}
	}
	text, err := f.Encode()
	if err != nil {
		return // of nothing that is set here
	}
	item.Attributes = text
}

// describeDirectory describes a directory that is not open.
func (im *importer) describeDirectory(item *Item) {
	if !im.o.Preserve.Xattrs {
		im.describe(item, nil)
		return
	}
	dir, _, err := im.openKind(item.path, fs.ModeDir)
	if err != nil { // its listing says so, too
		im.describe(item, nil)
		item.Speaks &^= attributes.MemberXattrs
		return
	}
	im.describe(item, dir)
	_ = dir.Close() // reading loses nothing
}
