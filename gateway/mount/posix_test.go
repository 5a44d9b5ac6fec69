//go:build linux

package mount

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// What changes a file's time, mode and size, and what doesn't, as POSIX says.
func TestWhatMovesTimesModesAndSizes(t *testing.T) {
	f := mounted(t, nil)
	path := f.path("a")
	past := time.Unix(1_000_000_000, 123_456_789)
	for _, c := range []struct {
		what  string
		do    func() error
		moves bool
		mode  os.FileMode
		size  int64
	}{
		{"a write", func() error { return os.WriteFile(path, []byte("0123456789"), 0o644) }, true, 0o644, 10},
		{"a read", func() error { _, err := os.ReadFile(path); return err }, false, 0o644, 10},
		{"chmod", func() error { return os.Chmod(path, 0o4750) }, false, 0o750, 10},
		{"chmod to nothing", func() error { return os.Chmod(path, 0) }, false, 0, 10},
		{"chmod back", func() error { return os.Chmod(path, 0o640) }, false, 0o640, 10},
		{"chown to oneself", func() error { return os.Chown(path, os.Getuid(), -1) }, false, 0o640, 10},
		{"truncate to less", func() error { return os.Truncate(path, 4) }, true, 0o640, 4},
		{"truncate to more", func() error { return os.Truncate(path, 8) }, true, 0o640, 8},
		{"truncate to the same", func() error { return os.Truncate(path, 8) }, true, 0o640, 8},
		{"open that empties", func() error { return emptied(path) }, true, 0o640, 0},
		{"rename", func() error {
			if err := os.Rename(path, path+"b"); err != nil {
				return err
			}
			return os.Rename(path+"b", path)
		}, false, 0o640, 0},
		{"an append", func() error { return appended(path) }, true, 0o640, 3},
	} {
		if _, err := os.Stat(path); err == nil {
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		check := func(when string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if moved := !info.ModTime().Equal(past); moved != c.moves {
				t.Errorf("%s%s: the time is %v", c.what, when, info.ModTime())
			}
			if info.Mode().Perm() != c.mode || info.Size() != c.size || info.Sys().(*syscall.Stat_t).Nlink != 1 {
				t.Errorf("%s%s: mode %v, size %d", c.what, when, info.Mode(), info.Size())
			}
		}
		check("")
		f.stop()
		f.start(nil)
		check(", after the mount was ended")
	}
	if got := f.content("a"); got != "end" {
		t.Errorf("got %q", got)
	}
}

func emptied(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

func appended(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if _, err := file.WriteString("end"); err != nil {
		return err
	}
	return file.Close()
}
