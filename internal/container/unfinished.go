package container

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	unfinishedSuffix = ".tmp"
	// longestBase leaves room in a name of 255 bytes for what is added to it.
	longestBase = 200
	// unfinishedAge is how long nobody wrote to a file that a killed process left:
	// making one takes milliseconds.
	unfinishedAge = time.Hour
)

// unfinishedPrefix is what the path of a file begins with that is still being
// made.
func unfinishedPrefix(path string) string {
	base := filepath.Base(path)
	if len(base) > longestBase {
		base = strings.ToValidUTF8(base[:longestBase], "")
	}
	return filepath.Join(filepath.Dir(path), "."+base+".")
}

// removeUnfinished removes what processes left that were killed while they made
// this very file. What cannot be removed does no harm.
func removeUnfinished(path string) {
	prefix := unfinishedPrefix(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, ours := strings.CutPrefix(entry.Name(), filepath.Base(prefix))
		random, complete := strings.CutSuffix(name, unfinishedSuffix)
		if !ours || !complete || len(random) != 16 || !entry.Type().IsRegular() {
			continue
		}
		if full := filepath.Join(filepath.Dir(path), entry.Name()); isUnfinished(full) {
			_ = os.Remove(full)
		}
	}
}

// isUnfinished reports whether a file is one that was begun long ago: of zeros,
// pages and the magic, and no larger than a new file.
func isUnfinished(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > headSize+minExtent+trailerSize || time.Since(info.ModTime()) < unfinishedAge {
		return false
	}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil {
		return errors.Is(err, io.EOF)
	}
	return string(head) == magic || len(bytes.Trim(head, "\x00")) == 0
}
