package container

import (
	"errors"
	"fmt"
	"io"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"
)

// mainFile is the main database of one SQLite connection, which uses it from
// one goroutine at a time. Locks and shared memory are those of the driver's
// file; pages are read and written through the Container.
type mainFile struct {
	vfs.File
	c      *Container
	memory vfs.SharedMemory
	page   [PageSize]byte
}

var (
	_ vfs.FileSharedMemory       = (*mainFile)(nil)
	_ vfs.FileHasMoved           = (*mainFile)(nil)
	_ vfs.FileLockState          = (*mainFile)(nil)
	_ vfs.FilePersistWAL         = (*mainFile)(nil)
	_ vfs.FilePowersafeOverwrite = (*mainFile)(nil)
	_ vfs.FileSizeHint           = (*mainFile)(nil)
)

// readTries is how often a page is read before it counts as damaged. Size may
// meet a checkpoint that is writing the first page.
const readTries = 3

// headerSize is how much of the first page SQLite reads when it opens a database,
// to learn of settings that are the same in all our files.
const headerSize = 100

// ReadAt implements vfs.File.
//
// The header is answered without the disk: after a crash in a checkpoint the
// first page may be torn, and whole only in the log, of which SQLite learns later.
func (f *mainFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off == 0 && len(p) == headerSize {
		return copy(p, firstPage()), nil
	}
	for n < len(p) {
		at := off + int64(n)
		page, within := at/PageSize*PageSize, int(at%PageSize)
		if within == 0 && len(p)-n >= PageSize {
			if err := f.readPage(p[n:n+PageSize], page); err != nil {
				return n, err
			}
			n += PageSize
			continue
		}
		if err := f.readPage(f.page[:], page); err != nil {
			return n, err
		}
		n += copy(p[n:], f.page[within:])
	}
	return n, nil
}

// readPage fills p with a whole page and checks it. It returns io.EOF for a page
// behind the end of the database.
func (f *mainFile) readPage(p []byte, off int64) error {
	at, err := f.locate(off)
	if err != nil {
		return err
	}
	for range readTries {
		n, err := f.c.disk.readAt(p, at)
		if n < PageSize && !isEOF(err) {
			return vfs.SystemError(fmt.Errorf("read page %d at offset %d of %s: %w", off/PageSize+1, at, f.c.path, err), sqlite3.IOERR_READ)
		}
		if n == PageSize && f.c.sums.check(p, off) {
			return nil
		}
		// The writer may have given an extent back since, and added another one.
		if err := f.c.reloadPages(); err != nil {
			return vfs.SystemError(err, sqlite3.IOERR_READ)
		}
		if now, ok := f.c.pages.Load().locate(off); ok {
			at = now
		}
	}
	return f.c.damagedPage(off, at)
}

func (f *mainFile) locate(off int64) (int64, error) {
	if at, ok := f.c.pages.Load().locate(off); ok {
		return at, nil
	}
	if err := f.c.reloadPages(); err != nil {
		return 0, vfs.SystemError(err, sqlite3.IOERR_READ)
	}
	if at, ok := f.c.pages.Load().locate(off); ok {
		return at, nil
	}
	// SQLite takes a page behind the end for one of zeros. If the first page
	// says that the database reaches further, the list of extents is not whole.
	switch size, err := f.Size(); {
	case err != nil:
		return 0, err
	case off < size:
		return 0, f.c.damagedPage(off, -1)
	}
	return 0, io.EOF
}

// damagedPage logs what is wrong and returns it. SQLite keeps the code of the
// error, SQLITE_IOERR_DATA, and drops its text.
func (c *Container) damagedPage(off, at int64) error {
	err := fmt.Errorf("%w: page %d at offset %d of %s does not match its checksum", ErrPage, off/PageSize+1, at, c.path)
	if at < 0 {
		err = fmt.Errorf("%w: page %d of %s lies in no extent", ErrPage, off/PageSize+1, c.path)
	}
	c.log.Error("damaged page of the database", "error", err)
	c.lastDamage.Store(&err)
	return vfs.SystemError(err, sqlite3.IOERR_DATA)
}

// Damage returns which page was found damaged last, nil when none was. SQLite does
// not pass it on.
func (c *Container) Damage() error {
	if err := c.lastDamage.Load(); err != nil {
		return *err
	}
	return nil
}

// WriteAt implements vfs.File. SQLite's buffer is not ours to change, so the
// page that gets the checksum is a copy.
func (f *mainFile) WriteAt(p []byte, off int64) (n int, err error) {
	if err := f.c.changeable(); err != nil {
		return 0, err
	}
	if err := f.c.beginCheckpoint(); err != nil {
		return 0, writeError(err)
	}
	if err := f.grow(off + int64(len(p))); err != nil {
		return 0, err
	}
	for n < len(p) {
		at := off + int64(n)
		page, within := at/PageSize*PageSize, int(at%PageSize)
		m := min(PageSize-within, len(p)-n)
		if m < PageSize {
			if err := f.readPage(f.page[:], page); err != nil {
				return n, err
			}
		}
		copy(f.page[within:], p[n:n+m])
		if err := f.writePage(page); err != nil {
			return n, err
		}
		n += m
	}
	return n, nil
}

func (f *mainFile) writePage(off int64) error {
	at, err := f.locate(off)
	if err != nil {
		return err
	}
	f.c.sums.stamp(f.page[:], off)
	return writeError(f.c.disk.writePage(at, f.page[:]))
}

// grow makes room for the database up to size.
func (f *mainFile) grow(size int64) error {
	if size <= f.c.pages.Load().capacity() {
		return nil
	}
	if err := f.c.changeable(); err != nil {
		return err
	}
	return writeError(f.c.growPages(size))
}

// SizeHint implements vfs.FileSizeHint: room is made before a checkpoint begins.
func (f *mainFile) SizeHint(size int64) error { return f.grow(size) }

// Truncate implements vfs.File. The end of the database is what its first page
// says; pages behind it stay ours.
func (f *mainFile) Truncate(size int64) error { return f.grow(size) }

// Size implements vfs.File. When the first page is torn, which is right after a
// crash in a checkpoint and damage otherwise, any size that is not zero makes
// SQLite go on: to the log, or to reading that page.
func (f *mainFile) Size() (int64, error) {
	size, err := f.size()
	if errors.Is(err, ErrPage) {
		return f.c.pages.Load().capacity(), nil
	}
	return size, vfs.SystemError(err, sqlite3.IOERR_READ)
}

// size returns what the first page says.
func (f *mainFile) size() (int64, error) {
	return f.c.databaseSize(f.page[:])
}

// databaseSize reads how large SQLite's database is from its first page, which it
// leaves in p.
func (c *Container) databaseSize(p []byte) (int64, error) {
	at, _ := c.pages.Load().locate(0) // there is always an extent
	for range readTries {
		if n, err := c.disk.readAt(p, at); n < PageSize && !isEOF(err) {
			return 0, fmt.Errorf("read the first page of %s: %w", c.path, err)
		}
		if c.sums.check(p, 0) {
			return sqliteSize(p)
		}
	}
	return 0, fmt.Errorf("%w: the first one", ErrPage)
}

// Sync implements vfs.File.
func (f *mainFile) Sync(vfs.SyncFlag) error {
	return syncError(f.c.disk.syncPages())
}

// syncError tells SQLite of a full disk, which some file systems notice only
// when they sync.
func syncError(err error) error {
	if isNoSpace(err) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return vfs.SystemError(err, sqlite3.IOERR_FSYNC)
}

func writeError(err error) error {
	if isNoSpace(err) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return vfs.SystemError(err, sqlite3.IOERR_WRITE)
}

// DeviceCharacteristics implements vfs.File. Parts of pages are not to be read
// past the checksum, and batches are not atomic here.
func (f *mainFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	d := f.File.DeviceCharacteristics() & vfs.IOCAP_POWERSAFE_OVERWRITE
	if f.c.immutable {
		d |= vfs.IOCAP_IMMUTABLE
	}
	return d
}

// SharedMemory implements vfs.FileSharedMemory.
func (f *mainFile) SharedMemory() vfs.SharedMemory { return f.memory }

// Close implements vfs.File.
func (f *mainFile) Close() error {
	var err error
	if f.c.side.names != usualNames && f.memory != nil {
		err = f.memory.Close()
	}
	return errors.Join(err, f.File.Close())
}

// HasMoved implements vfs.FileHasMoved.
func (f *mainFile) HasMoved() (bool, error) { return vfsutil.WrapHasMoved(f.File) }

// LockState implements vfs.FileLockState.
func (f *mainFile) LockState() vfs.LockLevel { return vfsutil.WrapLockState(f.File) }

// PersistWAL implements vfs.FilePersistWAL.
func (f *mainFile) PersistWAL() bool { return vfsutil.WrapPersistWAL(f.File) }

// SetPersistWAL implements vfs.FilePersistWAL.
func (f *mainFile) SetPersistWAL(keep bool) { vfsutil.WrapSetPersistWAL(f.File, keep) }

// PowersafeOverwrite implements vfs.FilePowersafeOverwrite.
func (f *mainFile) PowersafeOverwrite() bool { return vfsutil.WrapPowersafeOverwrite(f.File) }

// SetPowersafeOverwrite implements vfs.FilePowersafeOverwrite.
func (f *mainFile) SetPowersafeOverwrite(on bool) { vfsutil.WrapSetPowersafeOverwrite(f.File, on) }
