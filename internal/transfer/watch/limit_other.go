//go:build !linux

package watch

import (
	"errors"
	"fmt"
	"syscall"
)

// limit returns an error of watching, told by the limit that it met.
func limit(path string, err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return &LimitError{path, "of open files", err}
	}
	return fmt.Errorf("%s: cannot be watched: %w", path, err)
}
