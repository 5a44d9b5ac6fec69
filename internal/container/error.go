package container

import (
	"errors"
	"fmt"
)

// The reasons why a file is refused. Open wraps them with the path and what to
// do about it; a refused file is left byte for byte as it was.
var (
	// ErrEmpty: the file has no bytes. It may be what is left of a failed copy.
	ErrEmpty = errors.New("the file is empty")
	// ErrNotDatabase: the file does not begin as a Stardust database does.
	ErrNotDatabase = errors.New("not a Stardust database")
	// ErrNewer: a newer version of this software wrote the file.
	ErrNewer = errors.New("the file has a newer format")
	// ErrTruncated: the file is shorter than its own description says.
	ErrTruncated = errors.New("the file has been cut short")
	// ErrDamaged: both copies of the superblock are damaged.
	ErrDamaged = errors.New("the superblock is damaged")
	// ErrLocked: another Container has the file open, in this process or another.
	ErrLocked = errors.New("the file is in use")
	// ErrReadOnly: the file, its directory or its medium cannot be written.
	ErrReadOnly = errors.New("the file cannot be written")
	// ErrLogMissing: commits that the file knows of are in a write-ahead log
	// that is not there, or that is older than the file.
	ErrLogMissing = errors.New("the write-ahead log with the latest commits is missing")
	// ErrLogDamaged: the file's write-ahead log has commits behind a place that
	// is damaged.
	ErrLogDamaged = errors.New("the write-ahead log is damaged")
	// ErrTornCopy: the file is a copy that was made while somebody wrote.
	ErrTornCopy = errors.New("the file was copied while it was written")
	// ErrOccupied: files of somebody else have the names that the file's log
	// needs.
	ErrOccupied = errors.New("names that the database needs are taken")
	// ErrNotRecovered: the file was not closed cleanly, and opening it only for
	// reading is not enough here to recover its write-ahead log.
	ErrNotRecovered = errors.New("the file needs recovery")
	// ErrUnsupported: this platform lacks the locks that keep writers apart.
	ErrUnsupported = errors.New("platform not supported")
)

// ErrPage is wrapped by the error of a page whose checksum does not match. SQLite
// makes SQLITE_IOERR_DATA of it, which is what users of a connection test for;
// the page is in the log.
var ErrPage = errors.New("page is damaged")

// ErrClosed is returned by the methods of a closed Container.
var ErrClosed = errors.New("container is closed")

// ErrSyncLost is wrapped by the error of SQLite's sync after one of the file's
// syncs failed: the pages written before it may not have reached the disk, and
// SQLite must write them again, which it does at its next checkpoint.
var ErrSyncLost = errors.New("pages may have been lost by an earlier failed sync")

// LockedError says who has the file. It wraps [ErrLocked].
type LockedError struct {
	Path   string
	Holder Holder // the zero value when unknown
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s: %v: another process has it; close it there or wait longer", e.Path, ErrLocked)
	}
	return fmt.Sprintf("%s: %v: process %d on host %q has it open for writing; close it there or wait longer",
		e.Path, ErrLocked, e.Holder.PID, e.Holder.Host)
}

// Unwrap returns [ErrLocked].
func (e *LockedError) Unwrap() error { return ErrLocked }

// worse returns the error that says more about why a file is refused.
func worse(a, b error) error {
	rank := func(err error) int {
		switch {
		case errors.Is(err, ErrNewer):
			return 3
		case errors.Is(err, ErrDamaged):
			return 2
		case err != nil:
			return 1
		}
		return 0
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

func isNewer(err error) bool { return errors.Is(err, ErrNewer) }
