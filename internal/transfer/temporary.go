package transfer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"
)

// temporaryPrefix begins the names of files that are being written.
const temporaryPrefix = ".stardust-export-"

// temporaryName returns a new name of that kind. It is short, since the final one
// may be as long as a name can be.
func temporaryName() string {
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails
	return fmt.Sprintf("%s%x", temporaryPrefix, unique)
}

// namesRead is how many names of a directory are read at a time.
const namesRead = 1024

// IsTemporary reports whether a name is one that exports and gets write under,
// or that earlier versions did.
func IsTemporary(name string) bool {
	// Few names get as far as the expression.
	return strings.HasPrefix(name, ".stardust-") && regexp.MustCompile(
		`^\.stardust-(export-([0-9a-f]{16}|\d+-\d+)|get-\d+)$`).MatchString(name)
}

// RemoveTemporaries removes what killed exports and gets left in a directory, but
// not what one is writing at this moment.
func RemoveTemporaries(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return nil //nolint:nilerr // write-only directories exist; nothing is known to lie there
	}
	defer func() { _ = dir.Close() }() // reading loses nothing
	var errs []error
	for {
		names, err := dir.Readdirnames(namesRead)
		for _, name := range names {
			if IsTemporary(name) {
				errs = append(errs, removeLeftover(root, name))
			}
		}
		if err != nil || len(names) == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		}
	}
}

// removeLeftover removes a temporary file that nobody holds.
func removeLeftover(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		return removeLeftoverLink(root, name, info)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil // gone meanwhile, or nothing of ours
	}
	file, err := openRegular(root, name, info)
	if err != nil {
		return nil //nolint:nilerr // another user's, who will remove it, or gone
	}
	defer func() { _ = file.Close() }() // nothing was written
	if held, _ := lock(file); !held {
		return nil
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// linkAge is how old a temporary link must be to be a leftover: it cannot be
// locked, and gets its name at once.
const linkAge = time.Hour

func removeLeftoverLink(root *os.Root, name string, info fs.FileInfo) error {
	if age := time.Since(changedAt(info)); age < linkAge {
		return nil
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// changedAt returns when a file was last changed in any way.
func changedAt(info fs.FileInfo) time.Time {
	if at := changeTime(info); at != 0 {
		return time.Unix(0, at)
	}
	return info.ModTime()
}
