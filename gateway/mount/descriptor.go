//go:build linux

package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// isOther reports whether the thread of a program that closes a descriptor belongs to
// another process than the one that wrote, which lives on. Where that can't be seen it
// says no.
func isOther(closer, writer uint32) bool {
	if closer == writer || closer == 0 || writer == 0 {
		return false
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", closer, writer)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", writer))
	return err == nil
}

// hasOther reports whether the process of a thread has another descriptor of the file with an
// inode number than the one that it closes right now. Where that can't be seen it
// says no.
func hasOther(thread uint32, ino uint64) bool {
	dir := filepath.Join("/proc", fmt.Sprint(thread), "fdinfo")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	want := fmt.Sprintf("\nino:\t%d\n", ino)
	for _, entry := range entries {
		// It may be closed meanwhile.
		if text, err := os.ReadFile(filepath.Join(dir, entry.Name())); err == nil && strings.Contains(string(text), want) {
			return true
		}
	}
	return false
}
