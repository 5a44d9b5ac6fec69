// Package vfs is the small file system interface that a mirror does all its
// local I/O through (RFC 0034, Virtual Filesystem).
//
// There are only a few nouns:
//
//   - An [FS] is a file system: [OS] is the real one, [Simulated] lives in
//     memory and can crash, [Faulty] wraps another and fails on request.
//   - A [File] is an open file for range reads, a [Writer] a file being
//     written, a [Lock] a file held exclusively.
//
// It does not cache, evict, or know about objects.
package vfs

import (
	"errors"
	"io"
	"iter"
	"os"
	"time"
)

// ErrLocked is returned by FS.Lock when another owner holds the lock.
var ErrLocked = errors.New("the file is locked by another owner")

// An FS is a file system. Names are paths in the operating system's form.
// Errors about missing files match fs.ErrNotExist, those about a full disk
// syscall.ENOSPC, and those about too many open files syscall.EMFILE. All
// methods may be called concurrently.
type FS interface {
	// MkdirAll makes the directory and its parents where they are missing.
	MkdirAll(dir string) error
	// Open opens a file for reading. The caller closes it.
	Open(name string) (File, error)
	// Create makes a file, or empties the one there is, for writing. The
	// caller calls Finish or Close.
	Create(name string) (Writer, error)
	// Rename moves a file within a directory, atomically replacing another.
	Rename(from, to string) error
	// Remove removes a file. Those who have it open go on reading it.
	Remove(name string) error
	// List yields what the directory holds, in no particular order. Files
	// made or removed meanwhile may be missing or not. A yielded error ends
	// the list.
	List(dir string) iter.Seq2[Entry, error]
	// Lock makes the file if needed and locks it exclusively against every
	// other owner, in this process and others, until Close or the end of the
	// process. It returns ErrLocked at once when another owner holds it.
	Lock(name string) (Lock, error)
}

// An Entry is one name in a directory.
type Entry struct {
	Name string
	// Regular tells a regular file from a directory, link or device.
	Regular bool
	Info
}

// Info describes a file. An unchanged file keeps its Info.
type Info struct {
	Size    int64
	ModTime time.Time
}

// A File is an open file. It stays readable after its name was removed.
type File interface {
	io.ReaderAt
	io.Closer
}

// An OSFile is a File of the operating system, so that the kernel can send it.
type OSFile interface {
	File
	// File returns the open file, owned by the OSFile.
	File() *os.File
}

// A Writer is a file being written. WriteAt may be called concurrently on
// ranges that don't overlap.
type Writer interface {
	io.WriterAt
	// ReadAt reads what was written.
	io.ReaderAt
	// Truncate cuts the file or extends it with zeros.
	Truncate(size int64) error
	// Finish waits for pending writes, closes the file, and returns what List
	// says about it from now on. It does not make the bytes survive a crash
	// of the machine.
	Finish() (Info, error)
	// Close closes the file when Finish was not called, and else does
	// nothing. The file stays.
	Close() error
}

// A Lock is a file held exclusively. It may hold a few bytes.
type Lock interface {
	// Contents returns the bytes in the file.
	Contents() ([]byte, error)
	// SetContents replaces the bytes in the file, and makes them survive a
	// crash of the machine.
	SetContents(data []byte) error
	// Close releases the lock. The file stays.
	Close() error
}
