//go:build unix

package container

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asNobody runs the other process as a user who cannot write in the directory.
// Root, who runs many tests, can write everywhere.
func asNobody(t *testing.T, what, path string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "STARDUST_CHILD="+what, "STARDUST_FILE="+path)
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		program := filepath.Join(t.TempDir(), "program")
		data, err := os.ReadFile(os.Args[0])
		if err == nil {
			err = os.WriteFile(program, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		passable(t, program)
		cmd.Path, cmd.Args[0] = program, program
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Skipf("cannot run as another user here: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// passable lets everybody through the directories that lead to a file.
func passable(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); strings.HasPrefix(dir, os.TempDir()) && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAReadOnlyMedium(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	table(t, path)
	passable(t, path)
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if said := asNobody(t, "read", path); said != "rows 0" {
		t.Errorf("at rest: %s", said)
	}
	if said := asNobody(t, "write", path); !strings.Contains(said, ErrReadOnly.Error()) {
		t.Errorf("a writer: %s", said)
	}
	if got := names(t, dir); got != "db" {
		t.Errorf("left behind: %s", got)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Error("the file was changed")
	}
	if os.Getuid() != 0 {
		return // what follows writes
	}
	writer := openTest(t, path, Options{})
	conn := connect(t, writer)
	run(t, conn, `INSERT INTO t (b) VALUES (1)`)
	if said := asNobody(t, "read", path); said != "rows 1" {
		t.Errorf("beside a writer: %s", said)
	}
	if err := errors.Join(conn.Close(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	child := startChild(t, "write", path)
	if err := child.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.cmd.Wait()
	if err := os.Remove(path + "-shm"); err != nil {
		t.Fatal(err)
	}
	if said := asNobody(t, "read", path); !strings.Contains(said, ErrNotRecovered.Error()) {
		t.Errorf("after a writer's death: %s", said)
	}
}

// A reader without SQLite's locks keeps writers out, and tells them so.
func TestAPinnedFileHasNoWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	table(t, path)
	pin, err := openLocks(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := pin.set(pinByte, false); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{LockTimeout: 20 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	if err := pin.close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, path, Options{})
}
