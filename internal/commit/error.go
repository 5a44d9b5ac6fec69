package commit

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/internal/tree"
)

// ErrClosed is the error of a write that came after the queue's end.
var ErrClosed = errors.New("the database is closed")

// ErrHeld is the error of a write while writes are held.
var ErrHeld = errors.New("the database holds writes; try again when they are released")

// Refused reports whether an error of Commit means that the write did not take
// place and never will. After any other error only the next open of the file
// tells.
func Refused(err error) bool {
	return tree.Refused(err) || errors.Is(err, ErrClosed) || errors.Is(err, ErrHeld) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
