package payload

import (
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
)

// What errors of this package mean. Their texts say what happened to which thing.
var (
	// ErrDamaged: stored bytes are not what they must be. See [IsDamage].
	ErrDamaged = errors.New("stored payload is damaged")
	// ErrNoMemory: the memory budget has no room.
	ErrNoMemory = errors.New("the memory budget has no room")
	// ErrClosed: the upload has finished or was closed, or the reader was closed.
	ErrClosed = errors.New("the stream is closed")
	// ErrGone: a stored chunk that an upload relied on is stored no more.
	ErrGone = errors.New("a stored chunk is gone")
	// ErrForgotten: the payload was forgotten after it was opened.
	ErrForgotten = errors.New("the payload was forgotten")
	// ErrArgument: a position or whence makes no sense.
	ErrArgument = errors.New("invalid argument")
)

// IsDamage reports whether an error says that stored bytes or rows are damaged.
func IsDamage(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, heap.ErrCorrupt) || errors.Is(err, catalog.ErrCorrupt)
}

// problem reads as its text alone, and means its kind.
type problem struct {
	kind error
	text string
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.kind }

func fail(kind error, format string, args ...any) error {
	return &problem{kind, fmt.Sprintf(format, args...)}
}
