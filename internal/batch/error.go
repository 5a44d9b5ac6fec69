package batch

import (
	"errors"
	"fmt"
)

// What decoders refuse.
var (
	// ErrCorrupt: the bytes are not what was written.
	ErrCorrupt = errors.New("damaged")
	// ErrNewer: a newer version wrote them.
	ErrNewer = errors.New("written by a newer version; use that")
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
