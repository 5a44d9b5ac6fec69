package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/vfs"
)

// maxPath leaves room for the longest name SQLite makes from the file's.
const maxPath = 1024 - len("-journal") - 1

// Open opens the database file at path. The error wraps one of this package's
// sentinels, a *LockedError, or an error of package fs; the file is then as it
// was and nothing is left beside it.
//
// A read-only Container works while another one, here or in another process,
// writes. In a directory where nothing can be created, a file at rest is opened
// without SQLite's locks; writers are kept out while such a reader has it.
func Open(path string, o Options) (*Container, error) {
	resolved, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(resolved); o.Create && !o.ReadOnly && errors.Is(err, fs.ErrNotExist) {
		if err := create(resolved, o.Draft, o.Hook); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	c, err := open(resolved, o)
	if err != nil {
		if _, ok := errors.AsType[*LockedError](err); ok {
			return nil, err // names the file itself
		}
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	vfs.Register(c.vfsName, &database{c})
	return c, nil
}

// resolve returns the absolute path without symbolic links; the last element
// need not exist. SQLite's files lie beside the real file.
func resolve(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("open: %w: the path is empty", fs.ErrInvalid)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return "", fmt.Errorf("open %s: the symbolic link leads nowhere: %w", path, err)
		}
		var dir string
		dir, err = filepath.EvalSymlinks(filepath.Dir(path))
		real = filepath.Join(dir, filepath.Base(path))
	}
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		if _, named := errors.AsType[*fs.PathError](err); !named {
			err = fmt.Errorf("open %s: %w", path, err)
		}
		return "", err
	}
	if len(real) > maxPath {
		return "", fmt.Errorf("open %s: %w: the path has %d bytes, SQLite takes %d", path, fs.ErrInvalid, len(real), maxPath)
	}
	return real, nil
}

func open(path string, o Options) (_ *Container, err error) {
	f, mode, err := openFile(path, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	c := &Container{
		path: path, vfsName: "stardust-" + randomHex(), readOnly: o.ReadOnly,
		disk: &disk{file: f, hook: o.Hook}, hook: o.Hook, log: o.logger(), mode: mode,
	}
	defer func() {
		if err != nil {
			if c.locks != nil {
				err = errors.Join(err, c.locks.close())
			}
			err = errors.Join(err, f.Close())
		}
	}()
	// Look first, so that no lock is taken on a file that is not ours.
	if _, _, err := c.load(); err != nil {
		return nil, err
	}
	if c.locks, err = openLocks(path); err != nil {
		return nil, err
	}
	if err := c.enter(o); err != nil {
		return nil, err
	}
	var size int64
	if c.damaged, size, err = c.load(); err != nil {
		return nil, err
	}
	c.tail = max(size, c.super.tail)
	if c.readOnly {
		c.settled = c.side.closed && size == c.super.tail
		return c, nil
	}
	if err := c.examine(o.AcceptMissingLog); err != nil {
		return nil, err
	}
	c.settled = c.side.closed && size == c.super.tail
	if err := c.recall(); err != nil {
		return nil, err
	}
	if !o.Tentative {
		err = c.Begin()
	}
	return c, err
}

// openFile opens the database's file. It looks first: opening a pipe may wait for
// ever, and a device does what it likes.
func openFile(path string, readOnly bool) (*os.File, os.FileMode, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%w: it is not a regular file", ErrNotDatabase)
	}
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		if !readOnly && (errors.Is(err, fs.ErrPermission) || isReadOnlyMedium(err)) {
			err = fmt.Errorf("%w: open it read-only: %w", ErrReadOnly, err)
		}
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is not a regular file", ErrNotDatabase)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Mode().Perm(), nil
}

// load reads the superblock and compares it with the file.
func (c *Container) load() (damaged bool, size int64, err error) {
	if size, err = c.disk.size(); err != nil {
		return false, 0, err
	}
	if size == 0 {
		return false, 0, ErrEmpty
	}
	s, slot, damaged, err := readSuperblock(c.disk.readAt)
	if err != nil {
		if size < headSize && errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: it has only %d bytes", ErrTruncated, size)
		}
		return false, 0, err
	}
	if size < s.tail {
		return false, 0, fmt.Errorf("%w: it has %d bytes, %d at least are missing; restore it from a backup",
			ErrTruncated, size, s.tail-size)
	}
	c.super, c.slot = *s, slot
	c.identity, c.sums = s.identity, newPageSums(s.identity)
	c.trailerNote.Store(s.noteOffset())
	c.pages.Store(&s.extents)
	return damaged, size, nil
}
