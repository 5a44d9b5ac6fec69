package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
)

var errChangedMeanwhile = errors.New("something else took its place meanwhile")

// openFunc opens a file, as os.OpenFile does.
type openFunc func(name string, flag int, perm fs.FileMode) (*os.File, error)

// openerOf returns what opens the files of a file system with flags, which package
// io/fs does not have: nil for any but the operating system's own.
func openerOf(from fs.FS) openFunc {
	switch v := reflect.ValueOf(from); v.Type() {
	case reflect.TypeOf(os.DirFS(".")):
		dir := v.String()
		if dir == "" {
			return nil // which it refuses
		}
		return func(name string, flag int, perm fs.FileMode) (*os.File, error) {
			f, err := os.OpenFile(filepath.Join(dir, name), flag, perm)
			if failed, ok := errors.AsType[*fs.PathError](err); ok {
				failed.Path = name // as it says it itself
			}
			return f, err
		}
	case reflect.TypeOf(new(os.Root).FS()):
		if root := reflect.TypeFor[*os.Root](); v.CanConvert(root) {
			return v.Convert(root).Interface().(*os.Root).OpenFile
		}
	}
	return nil
}

// open opens a file or directory. It does not wait for what may have taken its place
// since it was looked at: to open a named pipe takes until somebody writes to it.
func (im *importer) open(path string) (fs.File, error) {
	name, err := filepath.Localize(path)
	if im.opener == nil || err != nil {
		return im.from.Open(path)
	}
	f, err := im.opener(name, os.O_RDONLY|openNonblock, 0)
	if errors.Is(err, syscall.EAGAIN) { // a file that another program has a lease on
		return im.from.Open(path)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openKind is open of what must be of a kind, which is that of its mode.
func (im *importer) openKind(path string, kind fs.FileMode) (fs.File, fs.FileInfo, error) {
	f, err := im.open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Type() != kind {
		err = hasBecome(info.Mode())
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, nil, err
	}
	return f, info, nil
}

// openFile opens an item's file. Where the file system tells, it is the one that was
// looked at, and not one that a link leads to which took its place: of another file
// it looks again.
func (im *importer) openFile(item *Item) (fs.File, fs.FileInfo, error) {
	for try := 1; ; try++ {
		f, info, err := im.openKind(item.path, 0)
		if err != nil {
			return nil, nil, err
		}
		if s := statOf(info); !item.stat.exact || s.device == item.stat.device && s.inode == item.stat.inode {
			return f, info, nil
		}
		_ = f.Close() // nothing was read
		if try == readTries {
			return nil, nil, errChangedMeanwhile
		}
		if item.stat, err = im.look(item.path); err != nil {
			return nil, nil, err
		}
		if !item.stat.mode.IsRegular() {
			return nil, nil, hasBecome(item.stat.mode)
		}
	}
}

func hasBecome(mode fs.FileMode) error { return fmt.Errorf("has become a %s", kindOf(mode)) }

// openRegular opens a local file for reading. Like open it does not wait, and what
// is not the file that was looked at is an error.
func openRegular(root *os.Root, name string, looked fs.FileInfo) (*os.File, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err == nil && os.SameFile(looked, now) {
		return file, nil
	}
	return nil, errors.Join(errChangedMeanwhile, err, file.Close())
}
