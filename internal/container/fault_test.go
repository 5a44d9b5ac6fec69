package container_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/container"
)

// An operation fails, once or for a while; then the disk works again. What was
// acknowledged stays, nothing torn is seen, and the session goes on.
func TestAfterAFaultTheSessionGoesOn(t *testing.T) {
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		for _, kind := range []container.OpKind{container.OpWrite, container.OpSync, container.OpTruncate, container.OpRemove} {
			for _, length := range []int{1, 5} {
				for nth := 1; nth < 400; nth += 1 + nth/2 {
					if !t.Run(fmt.Sprintf("%v at %v %d for %d", cause, kind, nth, length), func(t *testing.T) {
						fault(t, kind, nth, length, cause)
					}) {
						return
					}
				}
			}
		}
	}
}

func fault(t *testing.T, kind container.OpKind, nth, length int, cause error) {
	path := filepath.Join(t.TempDir(), "db")
	s, err := start(path, container.Options{Create: true, Hook: unsynced})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.conn.Exec(`CREATE TABLE t (n INTEGER PRIMARY KEY, off INT, size INT, digest BLOB, body BLOB); CREATE TABLE u (n INTEGER PRIMARY KEY, body BLOB)`), s.close()); err != nil {
		t.Fatal(err)
	}
	seen := 0
	r := &recorder{fail: func(op container.Op) error {
		if op.Kind != kind {
			return nil
		}
		seen++
		if seen >= nth && seen < nth+length {
			return cause
		}
		return nil
	}}
	for s = nil; s == nil; { // a fault at open is a clean error too
		if s, err = start(path, container.Options{Hook: r.hook}); err != nil && !errors.Is(err, cause) {
			t.Logf("open: %v", err)
		}
		if seen > nth+length+50 {
			t.Fatal("cannot be opened after the fault")
		}
	}
	if err := s.conn.Exec(`PRAGMA wal_autocheckpoint = 25`); err != nil {
		t.Fatal(err)
	}
	failures := 0
	for n := 1; n <= 16; {
		if err := s.store(n); err != nil {
			if failures++; failures > length+2 {
				t.Fatalf("commit %d: %v", n, err)
			}
			found, err := s.verify() // the row may be there, without the second commit
			for range length {       // it writes too, and may meet the same fault
				if err != nil {
					found, err = s.verify()
				}
			}
			if err != nil || found < n-1 {
				t.Fatalf("after the fault at commit %d: %d commits, %v", n, found, err)
			}
			n = found + 1
			continue
		}
		n++
	}
	if n, err := s.verify(); n != 16 || err != nil {
		t.Fatalf("at the end: %d commits, %v", n, err)
	}
	if err := s.close(); err != nil {
		t.Logf("close: %v", err)
	}
	s, err = start(path, container.Options{Hook: unsynced})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.verify(); n != 16 || err != nil {
		t.Errorf("after reopening: %d commits, %v", n, err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestWhatAKilledCreationLeftIsRemoved finds it beside the file that it was for,
// and touches nothing else.
func TestWhatAKilledCreationLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, data := range map[string]string{
		".db.0123456789abcdef.tmp":      strings.Repeat("\x00", 8192),
		".db.1123456789abcdef.tmp":      "",
		".db.2123456789abcdef.tmp":      "somebody's notes, which look like it",
		".db.short.tmp":                 "",
		".other.0123456789abcdef.tmp":   "",
		".db.3123456789abcdef.tmp.kept": "",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(data), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	young := filepath.Join(dir, ".db.4123456789abcdef.tmp") // somebody may be at it
	if err := os.WriteFile(young, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := container.Open(filepath.Join(dir, "db"), container.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 6 {
		t.Errorf("left are %v", left)
	}
	for _, name := range []string{".db.0123456789abcdef.tmp", ".db.1123456789abcdef.tmp"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestCreationThatFailsLeavesNothing(t *testing.T) {
	for _, kind := range []container.OpKind{container.OpWrite, container.OpSync, container.OpCreate} {
		for nth := 1; nth <= 3; nth++ {
			dir, seen := t.TempDir(), 0
			c, err := container.Open(filepath.Join(dir, "db"), container.Options{Create: true, Hook: func(op container.Op, do func() error) error {
				if op.Kind == kind {
					if seen++; seen == nth {
						return syscall.ENOSPC
					}
				}
				return do()
			}})
			if seen < nth {
				if err != nil {
					t.Errorf("%v %d: %v", kind, nth, err)
				}
				_ = c.Close()
				continue
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v %d: %v", kind, nth, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("%v %d: left behind: %v", kind, nth, left)
			}
		}
	}
}
