package stardust

import (
	"io/fs"
	"time"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
)

// FileAttributes are what a file system knew of a file or directory beside its
// name and content, as an import kept it in the attribute stardust/file; see
// docs/attributes.md.
type FileAttributes struct {
	HasMode bool
	Mode    fs.FileMode // permissions, with setuid, setgid and sticky; when HasMode is set
	ModTime time.Time   // zero when not known
	// Symlink says that the file is a symbolic link and its content the target.
	Symlink bool
}

// encode returns the attribute's value, nil for nothing.
func (a *FileAttributes) encode() ([]byte, error) {
	if a == nil {
		return nil, nil
	}
	f := attributes.File{MTime: a.ModTime}
	if a.HasMode {
		f.SetMode(a.Mode)
	}
	if a.Symlink {
		f.Type = attributes.Symlink
	}
	return f.Encode()
}

// FileAttributes returns what is kept of a file or directory. The zero value says
// that nothing is, also for the root and for an attribute of another form.
func (v Tree) FileAttributes(entity int64) (FileAttributes, error) {
	f, err := v.fileAttributes(entity)
	if err != nil {
		return FileAttributes{}, withOp("objects.attributes", err)
	}
	return FileAttributes{
		HasMode: f.HasMode, Mode: f.FileMode(), ModTime: f.MTime,
		Symlink: f.Type == attributes.Symlink,
	}, nil
}

func (v Tree) fileAttributes(entity int64) (f attributes.File, err error) {
	if entity == catalog.Root {
		return f, nil
	}
	err = v.readOne(func(view *catalog.View) error {
		return view.Attributes(entity, func(name string, value []byte) bool {
			if name == attributes.NameFile {
				if kept, bad := attributes.Decode(value); bad == nil {
					f = kept
				}
			}
			return name < attributes.NameFile
		})
	})
	return f, err
}
