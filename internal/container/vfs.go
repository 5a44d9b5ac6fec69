package container

import (
	"errors"
	"os"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// database is the VFS of one Container. The main database is in our file; the
// log and the shared memory are beside it; temporary files are the system's.
type database struct{ c *Container }

var _ vfs.VFSFilename = (*database)(nil)

func (d *database) system() vfs.VFS { return vfs.Find("") }

// FullPathname implements vfs.VFS. The path was resolved when it was opened, and
// doing so again might find another file.
func (d *database) FullPathname(name string) (string, error) { return name, nil }

// Access implements vfs.VFS. A rollback journal is never ours: one that lies
// beside the file must not be played back into it.
func (d *database) Access(name string, flags vfs.AccessFlag) (bool, error) {
	switch {
	case strings.HasSuffix(name, "-journal"), d.c.immutable:
		return false, nil
	case name != d.c.path+usualNames.log():
		return d.system().Access(name, flags)
	case d.c.logHidden():
		return false, nil
	}
	return d.system().Access(d.c.logPath(), flags)
}

// Delete implements vfs.VFS.
func (d *database) Delete(name string, sync bool) error {
	if name != d.c.path+usualNames.log() {
		return d.system().Delete(name, sync)
	}
	// SQLite deletes a log whose pages are all in the file, durably.
	if err := d.c.changeable(); err != nil {
		return err
	}
	if err := d.c.endLog(); err != nil {
		return vfs.SystemError(err, sqlite3.IOERR_DELETE)
	}
	return d.c.hook.run(Op{Kind: OpRemove, WAL: true}, func() error {
		return d.system().Delete(d.c.logPath(), sync)
	})
}

// Open implements vfs.VFS; SQLite calls OpenFilename instead.
func (d *database) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if name == "" {
		return d.OpenFilename(nil, flags)
	}
	return nil, 0, sqlite3.CANTOPEN
}

// OpenFilename implements vfs.VFSFilename.
func (d *database) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	switch {
	case flags&vfs.OPEN_MAIN_DB != 0:
		return d.openMain(name, flags)
	case flags&vfs.OPEN_WAL != 0:
		return newLogFile(d.c), flags, nil
	case flags&(vfs.OPEN_MAIN_JOURNAL|vfs.OPEN_SUPER_JOURNAL) != 0:
		return nil, 0, sqlite3.CANTOPEN // the database never leaves the log mode
	}
	return vfsutil.WrapOpenFilename(d.system(), name, flags)
}

func (d *database) openMain(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if name.String() != d.c.path {
		return nil, 0, vfs.SystemError(errors.New("not the file of this VFS: "+name.String()), sqlite3.CANTOPEN)
	}
	flags &^= vfs.OPEN_CREATE | vfs.OPEN_EXCLUSIVE
	if d.c.readOnly {
		flags = flags&^vfs.OPEN_READWRITE | vfs.OPEN_READONLY
	}
	file, flags, err := vfsutil.WrapOpenFilename(d.system(), name, flags)
	if err != nil {
		return nil, flags, err
	}
	m := &mainFile{File: file, c: d.c, memory: vfsutil.WrapSharedMemory(file)}
	if d.c.immutable {
		return m, flags, nil
	}
	// Made here, it gets the database's permissions and not those of a new file.
	if f, err := os.OpenFile(d.c.memoryPath(), os.O_RDWR|os.O_CREATE, d.c.mode); err == nil {
		_ = f.Close() // it was only made
	}
	if d.c.side.names != usualNames {
		m.memory = vfs.NewSharedMemory(d.c.memoryPath(), flags)
	}
	return m, flags, nil
}
