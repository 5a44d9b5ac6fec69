package container

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// sideLog is the file of a write-ahead log, as one connection has it open. A
// log that SQLite must not see looks empty, and one that is missing is made when
// it is first written.
type sideLog struct {
	c     *Container
	file  *os.File
	named bool // its name is known to be durable
}

// open returns the file, or nil when there is none to see.
func (l *sideLog) open(create bool) (*os.File, error) {
	if l.file != nil || l.c.logHidden() {
		return l.file, nil
	}
	flag := os.O_RDWR
	if l.c.readOnly {
		flag = os.O_RDONLY
	}
	if create {
		flag |= os.O_CREATE
	}
	f, err := os.OpenFile(l.c.logPath(), flag, l.c.mode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.file = f
	return f, nil
}

// ReadAt implements vfs.File.
func (l *sideLog) ReadAt(p []byte, off int64) (int, error) {
	f, err := l.open(false)
	if err != nil {
		return 0, vfs.SystemError(err, sqlite3.IOERR_READ)
	}
	if f == nil {
		return 0, io.EOF
	}
	return f.ReadAt(p, off)
}

// WriteAt implements vfs.File.
func (l *sideLog) WriteAt(p []byte, off int64) (int, error) {
	f, err := l.open(true)
	if err != nil {
		return 0, err
	}
	if f == nil {
		return 0, ErrReadOnly
	}
	return f.WriteAt(p, off)
}

// Truncate implements vfs.File.
func (l *sideLog) Truncate(size int64) error {
	f, err := l.open(false)
	if f == nil || err != nil {
		return err
	}
	return f.Truncate(size)
}

// Sync implements vfs.File. The first one makes the log's name durable too.
func (l *sideLog) Sync(vfs.SyncFlag) error {
	f, err := l.open(false)
	if f == nil || err != nil {
		return err
	}
	if err := syncFile(f); err != nil || l.named {
		return err
	}
	d, err := os.Open(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	err = errors.Join(d.Sync(), d.Close())
	l.named = err == nil
	return err
}

// Size implements vfs.File.
func (l *sideLog) Size() (int64, error) {
	f, err := l.open(false)
	if f == nil || err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close implements vfs.File.
func (l *sideLog) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Lock implements vfs.File. SQLite locks the main database only.
func (l *sideLog) Lock(vfs.LockLevel) error { return nil }

// Unlock implements vfs.File.
func (l *sideLog) Unlock(vfs.LockLevel) error { return nil }

// CheckReservedLock implements vfs.File.
func (l *sideLog) CheckReservedLock() (bool, error) { return false, nil }

// SectorSize implements vfs.File.
func (l *sideLog) SectorSize() int { return PageSize }

// DeviceCharacteristics implements vfs.File.
func (l *sideLog) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_POWERSAFE_OVERWRITE
}
