package stardust

import (
	"io/fs"
	"time"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
)

// FileAttributes are what a file system knew of a file or directory besides its
// name and content, which an import kept in the attribute stardust/file; see
// docs/attributes.md.
type FileAttributes struct {
	HasMode bool
	Mode    fs.FileMode // permissions, with setuid, setgid and sticky; when HasMode is set
	ModTime time.Time   // zero when not known
	// Symlink says that the file is a symbolic link and its content the target.
	Symlink bool
	// Owner is nil when it is not kept.
	Owner *FileOwner
	// Xattrs are extended attributes by their names; nil when none are kept.
	Xattrs map[string][]byte
	// Sparse says that the file had holes.
	Sparse bool
}

// FileOwner is who a file belongs to. Names are empty when not known.
type FileOwner struct {
	UID, GID    uint32
	User, Group string
}

// encode returns the attribute's value, nil for nothing, and the members that it
// speaks for.
func (a *FileAttributes) encode() ([]byte, attributes.Members, error) {
	if a == nil {
		return nil, 0, nil
	}
	speaks := attributes.Basic
	f := attributes.File{MTime: a.ModTime, Owner: (*attributes.Owner)(a.Owner), Xattrs: a.Xattrs, Sparse: a.Sparse}
	if a.Xattrs != nil {
		speaks |= attributes.MemberXattrs
	}
	if a.HasMode {
		f.SetMode(a.Mode)
	}
	if a.Symlink {
		f.Type = attributes.Symlink
	}
	text, err := f.Encode()
	return text, speaks, err
}

// FileAttributes returns what is kept of a file or directory: the zero value if
// nothing is, for the root, and for an attribute of another form.
func (v Tree) FileAttributes(entity int64) (FileAttributes, error) {
	f, err := v.fileAttributes(entity)
	if err != nil {
		return FileAttributes{}, withOp("objects.attributes", err)
	}
	return newFileAttributes(&f), nil
}

func newFileAttributes(f *attributes.File) FileAttributes {
	return FileAttributes{
		HasMode: f.HasMode, Mode: f.FileMode(), ModTime: f.MTime,
		Symlink: f.Type == attributes.Symlink, Sparse: f.Sparse,
		Owner: (*FileOwner)(f.Owner), Xattrs: f.Xattrs,
	}
}

func (v Tree) fileAttributes(entity int64) (f attributes.File, err error) {
	if entity == catalog.Root {
		return f, nil
	}
	err = v.readOne(func(view *catalog.View) (err error) {
		f, err = keptFile(view, entity)
		return err
	})
	return f, err
}
