package transfer

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
)

// Save writes a file under a temporary name and then gives it its own, in place
// of a file that is there: it is whole or not at all. Old is what is known of
// that file, or nil. The new one takes over its permissions, or has those that
// are kept when there was none, and is at no time readable by anybody who could
// not read it then, unless what is kept says otherwise: it gets everything that
// kept knows, from which [Preserve.Filter] takes what nobody asked for. A file that
// had holes gets them where there are only zeros. A *LostAttributesError says that
// the file is in place and something of it could not be restored.
func Save(root *os.Root, name string, old fs.FileInfo, kept *attributes.File, write func(io.Writer) error) error {
	return new(restorer).save(root, name, old, kept, false, write)
}

// save is Save, which sparse lets make holes of all zeros.
func (r *restorer) save(root *os.Root, name string, old fs.FileInfo, kept *attributes.File, sparse bool, write func(io.Writer) error) (err error) {
	mode := fs.FileMode(0o666)
	switch {
	case old != nil:
		mode = old.Mode().Perm()
	case kept.HasMode:
		mode = kept.FileMode().Perm()
	}
	file, temporary, err := createTemporary(root, mode)
	if err != nil {
		return err
	}
	var lost error
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(temporary))
			return
		}
		err = lostAttributes(lost)
	}()
	if sparse || kept.Sparse {
		holes := &sparseWriter{file: file}
		if err = write(holes); err == nil {
			err = holes.finish()
		}
	} else {
		err = write(file)
	}
	if err == nil && old != nil {
		mode, err = takeOver(file, old)
	}
	if err == nil {
		lost = r.restore(file, old != nil || kept.HasMode, mode, kept)
	}
	if err == nil && !kept.MTime.IsZero() {
		err = root.Chtimes(temporary, kept.MTime, kept.MTime)
	}
	if err == nil && renamesOpen {
		// Renamed while it is locked, or another run could take it for a
		// leftover.
		err = root.Rename(temporary, name)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil && !renamesOpen {
		err = root.Rename(temporary, name)
	}
	return err
}

// createTemporary makes a file of a new name in a directory and locks it.
func createTemporary(root *os.Root, mode fs.FileMode) (*os.File, string, error) {
	for {
		name := temporaryName()
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o200)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if held, taken := lock(file); taken || held && !lies(root, name) {
			_ = file.Close() // another run took it for a leftover in this moment
			continue
		}
		return file, name, nil
	}
}

func lies(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}
