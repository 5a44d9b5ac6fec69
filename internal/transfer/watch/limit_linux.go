package watch

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// limit returns an error of watching, told by the limit that it met.
func limit(path string, err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return &LimitError{path, "fs.inotify.max_user_watches", err}
	case errors.Is(err, unix.EMFILE):
		return &LimitError{path, "fs.inotify.max_user_instances, or of open files,", err}
	}
	return fmt.Errorf("%s: cannot be watched: %w", path, err)
}
