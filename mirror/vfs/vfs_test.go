package vfs_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// each runs a test on every FS, in an empty directory.
func each(t *testing.T, test func(t *testing.T, fs vfs.FS, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, vfs.OS{}, t.TempDir()) })
	t.Run("simulated", func(t *testing.T) {
		s := vfs.NewSimulated()
		if err := s.MkdirAll("/d"); err != nil {
			t.Fatal(err)
		}
		test(t, s, "/d")
	})
	t.Run("faulty", func(t *testing.T) {
		test(t, vfs.NewFaulty(vfs.OS{}, func(vfs.Op, string) error { return nil }), t.TempDir())
	})
}

func write(t *testing.T, fs vfs.FS, name, data string) vfs.Info {
	t.Helper()
	w, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte(data), 0); err != nil {
		t.Fatal(err)
	}
	info, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func read(t *testing.T, file vfs.File) string {
	t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func list(t *testing.T, fs vfs.FS, dir string) map[string]vfs.Entry {
	t.Helper()
	entries := map[string]vfs.Entry{}
	for entry, err := range fs.List(dir) {
		if err != nil {
			t.Fatal(err)
		}
		entries[entry.Name] = entry
	}
	return entries
}

func TestRemovedFileStaysReadable(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		write(t, fsys, name, "hello")
		file, err := fsys.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
		if got := read(t, file); got != "hello" {
			t.Errorf("read %q after the removal", got)
		}
		if _, err := fsys.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open after the removal: %v", err)
		}
		if err := fsys.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("second removal: %v", err)
		}
	})
}

func TestRenameReplacesAndOldReadersGoOn(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		write(t, fsys, to, "old")
		file, err := fsys.Open(to)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		write(t, fsys, from, "new")
		if err := fsys.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		if got := read(t, file); got != "old" {
			t.Errorf("the open file reads %q", got)
		}
		again, err := fsys.Open(to)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if got := read(t, again); got != "new" {
			t.Errorf("the new file reads %q", got)
		}
		if entries := list(t, fsys, dir); len(entries) != 1 {
			t.Errorf("directory holds %v", entries)
		}
	})
}

func TestListSaysWhatFinishSaid(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		info := write(t, fsys, filepath.Join(dir, "a"), "12345")
		if err := fsys.MkdirAll(filepath.Join(dir, "sub")); err != nil {
			t.Fatal(err)
		}
		entries := list(t, fsys, dir)
		a := entries["a"]
		if !a.Regular || a.Size != 5 || info.Size != 5 || !a.ModTime.Equal(info.ModTime) {
			t.Errorf("List: %+v, Finish: %+v", a, info)
		}
		if entries["sub"].Regular || len(entries) != 2 {
			t.Errorf("entries: %v", entries)
		}
		if err := fsys.Remove(filepath.Join(dir, "sub")); err == nil {
			t.Error("Remove removed a directory")
		}
	})
}

func TestSparseWritesReadAsZeros(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		w, err := fsys.Create(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.WriteAt([]byte("x"), 3); err != nil {
			t.Fatal(err)
		}
		if err := w.Truncate(5); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 6)
		if n, err := w.ReadAt(got, 0); n != 5 || !errors.Is(err, io.EOF) || string(got[:n]) != "\x00\x00\x00x\x00" {
			t.Errorf("read %d bytes %q, %v", n, got[:n], err)
		}
		if _, err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("Close after Finish: %v", err)
		}
	})
}

func TestLockIsExclusiveAndKeepsContents(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "LOCK")
		lock, err := fsys.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.SetContents([]byte("long contents")); err != nil {
			t.Fatal(err)
		}
		if err := lock.SetContents([]byte("short")); err != nil {
			t.Fatal(err)
		}
		if _, err := fsys.Lock(name); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("second lock: %v", err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := fsys.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if data, err := again.Contents(); err != nil || string(data) != "short" {
			t.Errorf("contents %q, %v", data, err)
		}
	})
}

func TestOSFileIsTheOpenFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	write(t, vfs.OS{}, name, "abc")
	file, err := vfs.OS{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.(vfs.OSFile).File().Stat()
	if err != nil || info.Size() != 3 {
		t.Errorf("stat: %v, %v", info, err)
	}
}

func TestFaultyFailsEveryOperation(t *testing.T) {
	boom := errors.New("boom")
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	var failing vfs.Op
	fsys := vfs.NewFaulty(vfs.OS{}, func(op vfs.Op, _ string) error {
		if op == failing {
			return boom
		}
		return nil
	})
	write(t, fsys, name, "abc")
	file, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := fsys.Create(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	one := make([]byte, 1)
	for op, do := range map[vfs.Op]func() error{
		vfs.OpMkdirAll: func() error { return fsys.MkdirAll(dir) },
		vfs.OpOpen:     func() error { _, err := fsys.Open(name); return err },
		vfs.OpCreate:   func() error { _, err := fsys.Create(name); return err },
		vfs.OpRename:   func() error { return fsys.Rename(name, name) },
		vfs.OpRemove:   func() error { return fsys.Remove(name) },
		vfs.OpLock:     func() error { _, err := fsys.Lock(name); return err },
		vfs.OpRead:     func() error { _, err := file.ReadAt(one, 0); return err },
		vfs.OpWrite:    func() error { _, err := w.WriteAt(one, 0); return err },
		vfs.OpTruncate: func() error { return w.Truncate(1) },
		vfs.OpFinish:   func() error { _, err := w.Finish(); return err },
		vfs.OpList: func() error {
			for _, err := range fsys.List(dir) {
				return err
			}
			return nil
		},
	} {
		failing = op
		if err := do(); !errors.Is(err, boom) {
			t.Errorf("%s: %v", op, err)
		}
	}
	failing = ""
	if data, err := os.ReadFile(name); err != nil || string(data) != "abc" {
		t.Errorf("a refused operation changed the file: %q, %v", data, err)
	}
}

func TestListOfAMissingDirectoryIsAnError(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		var errs []error
		for _, err := range fsys.List(filepath.Join(dir, "missing")) {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) {
			t.Errorf("yielded %v", errs)
		}
	})
}

func TestMkdirAllOverAFileIsAnError(t *testing.T) {
	each(t, func(t *testing.T, fsys vfs.FS, dir string) {
		write(t, fsys, filepath.Join(dir, "a"), "x")
		if err := fsys.MkdirAll(filepath.Join(dir, "a", "b")); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("MkdirAll: %v", err)
		}
		if !slices.Contains([]int{1}, len(list(t, fsys, dir))) {
			t.Error("the directory changed")
		}
	})
}
