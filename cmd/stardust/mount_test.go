//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
)

// scriptOutput runs a script and returns what it prints and how it ended.
func scriptOutput(t *testing.T, dir, script string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// startMount starts a process that mounts a new database db of dir on m.
func startMount(t *testing.T, dir string) *process {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "mount", "db", "m")
	p.expect(t, "created the database db")
	p.expect(t, "mounted db on m; interrupt, or umount it, to end")
	return p
}

// A signal ends a mount, also one that is in use, with everything committed.
func TestAMountEndsCleanlyOnASignal(t *testing.T) {
	need.Ask(t, need.FUSE)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			p := startMount(t, dir)
			if out, err := scriptOutput(t, dir, "echo closed >m/closed"); err != nil {
				t.Fatal(err, out)
			}
			// Another process has a file open that it wrote.
			user := exec.CommandContext(t.Context(), "sh", "-c", "exec 3>m/open; echo written >&3; echo ready; read line")
			user.Dir = dir
			input, err := user.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			ready, err := user.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := user.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := ready.Read(make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if code, stderr := p.end(t); code != 0 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			_ = input.Close()
			_ = user.Wait()
			if code, stdout, stderr := stardustCommand(t, dir, "cat", "db", "closed", "open"); code != 0 || stdout != "closed\nwritten\n" {
				t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
			}
			if mounts, err := os.ReadFile("/proc/mounts"); err != nil || bytes.Contains(mounts, []byte(dir)) {
				t.Errorf("still mounted: %v", err)
			}
		})
	}
}

// Programs that use a mount whose process was killed get an error and don't hang,
// and the database has what was committed.
func TestAKilledMountLeavesNobodyHanging(t *testing.T) {
	need.Ask(t, need.FUSE)
	dir := t.TempDir()
	p := startMount(t, dir)
	if out, err := scriptOutput(t, dir, "echo kept >m/a"); err != nil {
		t.Fatal(err, out)
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = p.end(t)
	if out, err := scriptOutput(t, dir, "cat m/a"); err == nil {
		t.Errorf("got %q of a mount without a process", out)
	}
	if out, err := scriptOutput(t, dir, "fusermount3 -u m"); err != nil {
		t.Fatal(err, out)
	}
	if code, stdout, stderr := stardustCommand(t, dir, "cat", "db", "a"); code != 0 || stdout != "kept\n" {
		t.Errorf("exit code %d, %q, %s", code, stdout, stderr)
	}
}

// Readers mount a database as often as they like.
func TestADatabaseIsMountedMoreThanOnce(t *testing.T) {
	need.Ask(t, need.FUSE)
	dir := t.TempDir()
	for _, name := range []string{"n", "o"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writer := startMount(t, dir)
	if out, err := scriptOutput(t, dir, "echo one >m/a"); err != nil {
		t.Fatal(err, out)
	}
	reader := start(t, dir, "mount", "db", "n", "--read-only")
	reader.expect(t, "mounted db on n; interrupt, or umount it, to end")
	past := start(t, dir, "mount", "db", "o", "--at", "2")
	past.expect(t, "mounted db on o; interrupt, or umount it, to end")
	if out, err := scriptOutput(t, dir, "cat m/a n/a; ls o; if (echo x >n/b) 2>/dev/null; then exit 1; fi"); err != nil || out != "one\none\na\n" {
		t.Errorf("%v, %q", err, out)
	}
	if code, _, stderr := stardustCommand(t, dir, "mount", "db", "missing", "--read-only"); code != 1 || stderr == "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, p := range []*process{past, reader, writer} {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code, stderr := p.end(t); code != 0 {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
}
