//go:build linux

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/transfer"
)

// watchProcess is a watch whose lines a test reads.
type watchProcess struct {
	*process
	lines *bufio.Reader
	dir   string
}

func startWatch(t *testing.T, dir string, args ...string) *watchProcess {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close() })
	p := startPrinting(t, dir, write, append([]string{"watch", "--settle", "20ms"}, args...)...)
	_ = write.Close() // the process has it
	return &watchProcess{p, bufio.NewReader(read), dir}
}

// say waits for the next line, which must hold a text.
func (w *watchProcess) say(t *testing.T, text string) {
	t.Helper()
	line, err := w.lines.ReadString('\n')
	if err != nil || !strings.Contains(line, text) {
		rest, _ := w.stderr.ReadString('\n')
		t.Fatalf("it says %q, %v, want %q; %s", line, err, text, rest)
	}
}

// bring makes a file appear whole.
func (w *watchProcess) bring(t *testing.T, path, text string) {
	t.Helper()
	aside := filepath.Join(w.dir, "aside")
	err := os.WriteFile(aside, []byte(text), 0o666)
	if err == nil {
		err = os.Rename(aside, filepath.Join(w.dir, path))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The database lies in the directory, and other commands write to it meanwhile.
func TestWatchImportsWhatChanges(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src/sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	w := startWatch(t, dir, "src", "src/db:/copy", "--delete", "--exclude", "*.tmp")
	w.say(t, ": 0 new")
	w.bring(t, "src/a", "first")
	w.say(t, "1 new, 0 changed, 0 moved, 0 removed, 0 failed")
	w.bring(t, "src/x.tmp", "left out")
	w.bring(t, "src/a", "second")
	w.say(t, "0 new, 1 changed")
	if code, _, stderr := stardustCommand(t, dir, "put", "src/db", "src/a", "/else"); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.Rename(filepath.Join(dir, "src/a"), filepath.Join(dir, "src/sub/b")); err != nil {
		t.Fatal(err)
	}
	w.say(t, "0 new, 0 changed, 1 moved, 0 removed")
	if err := os.Rename(filepath.Join(dir, "src/sub"), filepath.Join(dir, "src/other")); err != nil {
		t.Fatal(err)
	}
	w.say(t, "0 new, 0 changed, 1 moved, 1 removed")
	w.bring(t, "src/other/c", "in what moved")
	w.say(t, "1 new")
	if err := os.Remove(filepath.Join(dir, "src/other/b")); err != nil {
		t.Fatal(err)
	}
	w.say(t, "1 removed")
	w.bring(t, "src/last", "just before the end")
	if err := w.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code, stderr := w.end(t); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if code, out, _ := stardustCommand(t, dir, "find", "src/db"); code != 0 || !strings.Contains(out, "/copy/last") ||
		!strings.Contains(out, "/copy/other/c") || !strings.Contains(out, "/else") || strings.Contains(out, "tmp") {
		t.Errorf("in the end there is\n%s", out)
	}
}

// A directory that is another one when a batch comes must not empty the tree.
func TestWatchEndsWithItsDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o777); err != nil {
		t.Fatal(err)
	}
	w := startWatch(t, dir, "db", "src", "--delete")
	w.say(t, ": 0 new")
	w.bring(t, "src/a", "kept")
	w.say(t, "1 new")
	if err := os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	if code, stderr := w.end(t); code != 1 || !strings.Contains(stderr, "moved or removed") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, out, _ := stardustCommand(t, dir, "ls", "db"); code != 0 || out != "a\n" {
		t.Errorf("the tree holds %q", out)
	}
}

// What the database itself puts beside it changes with every batch: none may be the
// reason for another one.
func TestWatchSkipsWhatTheDatabaseWrites(t *testing.T) {
	for _, stranger := range []string{"", "db-wal", "db-shm"} {
		dir := t.TempDir()
		if stranger != "" {
			if err := os.WriteFile(filepath.Join(dir, stranger), []byte("a stranger's"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		w := watching{file: filepath.Join(dir, "db"), from: dir}
		db, err := stardust.Open(w.file, &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Tree().Create(stardust.NewNode{Name: "d"}); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) < 3 {
			t.Fatalf("beside the database are %v, %v", entries, err)
		}
		skip := w.skipper(new(transfer.Rules))
		for _, entry := range entries {
			if name := entry.Name(); name != stranger && !skip(name, false) {
				t.Errorf("with the stranger's %q, %s is worth a batch", stranger, name)
			}
		}
	}
}
