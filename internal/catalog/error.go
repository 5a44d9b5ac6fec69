package catalog

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// ErrCorrupt is wrapped by every error that means stored metadata is damaged.
var ErrCorrupt = errors.New("stored metadata is damaged")

// ErrNewer is wrapped by the error of tables that a newer version made.
var ErrNewer = errors.New("the tables have a newer format")

// ErrFull is wrapped by errors that mean the disk is full.
var ErrFull = errors.New("disk is full")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// translate marks SQLite's errors that mean damage or a full disk.
func translate(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrCorrupt), errors.Is(err, ErrFull):
		return err
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB),
		errors.Is(err, sqlite3.IOERR_DATA), errors.Is(err, sqlite3.IOERR_CORRUPTFS),
		errors.Is(err, sqlite3.IOERR_SHORT_READ):
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case errors.Is(err, sqlite3.FULL):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
