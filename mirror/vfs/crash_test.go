package vfs_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/mirror/vfs"
)

func TestFullDiskFailsAndRecovers(t *testing.T) {
	s := vfs.NewSimulated()
	s.SetCapacity(10)
	write(t, s, "/a", "123456")
	w, err := s.Create("/b")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteAt([]byte("12345"), 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write beyond the capacity: %v", err)
	}
	if s.Used() != 6 {
		t.Errorf("used %d", s.Used())
	}
	if err := s.Remove("/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt([]byte("12345"), 0); err != nil {
		t.Errorf("write after space came back: %v", err)
	}
}

func TestSpaceReturnsWhenTheLastReaderCloses(t *testing.T) {
	s := vfs.NewSimulated()
	write(t, s, "/a", "123456")
	file, err := s.Open("/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("/a"); err != nil {
		t.Fatal(err)
	}
	if s.Used() != 6 {
		t.Errorf("used %d while open", s.Used())
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Used() != 0 {
		t.Errorf("used %d after the close", s.Used())
	}
}

func TestKillReleasesLocksAndEndsHandles(t *testing.T) {
	s := vfs.NewSimulated()
	lock, err := s.Lock("/LOCK")
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "/a", "abc")
	file, err := s.Open("/a")
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if _, err := file.ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("read of a dead program: %v", err)
	}
	again, err := s.Lock("/LOCK")
	if err != nil {
		t.Fatalf("lock after the kill: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock("/LOCK"); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("the dead owner's Close released the new lock: %v", err)
	}
	if data, err := s.ReadFile("/a"); err != nil || string(data) != "abc" {
		t.Errorf("kill lost bytes: %q, %v", data, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAKilledProgramCanDoNothingMore(t *testing.T) {
	s := vfs.NewSimulated()
	program := s.Program()
	write(t, program, "/a", "abc")
	s.Kill()
	for op, do := range map[string]func() error{
		"mkdir":  func() error { return program.MkdirAll("/d") },
		"open":   func() error { _, err := program.Open("/a"); return err },
		"create": func() error { _, err := program.Create("/b"); return err },
		"rename": func() error { return program.Rename("/a", "/b") },
		"remove": func() error { return program.Remove("/a") },
		"lock":   func() error { _, err := program.Lock("/LOCK"); return err },
		"list": func() error {
			for _, err := range program.List("/") {
				return err
			}
			return nil
		},
	} {
		if err := do(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", op, err)
		}
	}
	if entries := list(t, s.Program(), "/"); len(entries) != 1 {
		t.Errorf("entries: %v", entries)
	}
}

func TestCrashWithDealsFatesToUnsyncedFilesOnly(t *testing.T) {
	for fate, want := range map[vfs.Fate]string{
		vfs.Kept: "new!", vfs.Zeroed: "\x00\x00\x00\x00", vfs.Empty: "", vfs.Cut: "ne", vfs.Old: "",
	} {
		s := vfs.NewSimulated()
		write(t, s, "/synced", "safe")
		s.Sync()
		write(t, s, "/a.tmp", "new!")
		if err := s.Rename("/a.tmp", "/a"); err != nil {
			t.Fatal(err)
		}
		s.CrashWith(func(string) vfs.Fate { return fate })
		if data, err := s.ReadFile("/a"); err != nil || string(data) != want {
			t.Errorf("fate %d: %q, %v", fate, data, err)
		}
		if data, err := s.ReadFile("/synced"); err != nil || string(data) != "safe" {
			t.Errorf("fate %d of a synced file: %q, %v", fate, data, err)
		}
		if s.Used() != int64(4+len(want)) {
			t.Errorf("fate %d: used %d", fate, s.Used())
		}
	}
}

func TestCrashMayUndoARemovalAndARename(t *testing.T) {
	undone, done := 0, 0
	for seed := range uint64(200) {
		s := vfs.NewSimulated()
		write(t, s, "/a", "a")
		write(t, s, "/b", "b")
		s.Sync()
		if err := s.Remove("/a"); err != nil {
			t.Fatal(err)
		}
		if err := s.Rename("/b", "/c"); err != nil {
			t.Fatal(err)
		}
		s.Crash(rand.New(rand.NewPCG(seed, 0)))
		data, err := s.ReadFile("/a")
		switch {
		case err == nil && string(data) == "a":
			undone++
		case errors.Is(err, fs.ErrNotExist):
			done++
		default:
			t.Fatalf("seed %d: /a is %q, %v", seed, data, err)
		}
		b, _ := s.ReadFile("/b")
		c, _ := s.ReadFile("/c")
		if string(b)+string(c) != "b" {
			t.Fatalf("seed %d: /b %q, /c %q", seed, b, c)
		}
	}
	if undone == 0 || done == 0 {
		t.Errorf("the removal was undone %d times, kept %d times", undone, done)
	}
}

func TestCrashOfOneSeedIsRepeatable(t *testing.T) {
	run := func() string {
		s := vfs.NewSimulated()
		for _, name := range []string{"/1", "/2", "/3", "/4", "/5"} {
			write(t, s, name+".tmp", "bytes of "+name)
			if err := s.Rename(name+".tmp", name); err != nil {
				t.Fatal(err)
			}
		}
		s.Crash(rand.New(rand.NewPCG(7, 7)))
		var all string
		for entry, err := range s.List("/") {
			if err != nil {
				t.Fatal(err)
			}
			data, err := s.ReadFile("/" + entry.Name)
			if err != nil {
				t.Fatal(err)
			}
			all += entry.Name + "=" + string(data) + ";"
		}
		return all
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%q and %q", a, b)
	}
}

func TestLockContentsSurviveEveryCrash(t *testing.T) {
	for seed := range uint64(50) {
		s := vfs.NewSimulated()
		lock, err := s.Lock("/LOCK")
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.SetContents([]byte("owner")); err != nil {
			t.Fatal(err)
		}
		s.Crash(rand.New(rand.NewPCG(seed, 1)))
		if data, err := s.ReadFile("/LOCK"); err != nil || string(data) != "owner" {
			t.Fatalf("seed %d: %q, %v", seed, data, err)
		}
	}
}
