package webdav_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/need"
)

// program runs a program and returns what it says.
func program(t *testing.T, in, name string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(in)
	cmd.Env = append(os.Environ(), "HOME="+home, "RCLONE_CONFIG="+filepath.Join(home, "rclone.conf"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// rclone brings a directory, finds nothing to bring again, checks it byte by byte, keeps
// its times, renames and removes.
func TestRcloneKeepsADirectory(t *testing.T) {
	rclone := need.Program(t, need.Rclone)
	w := run(t, nil, nil)
	from := t.TempDir()
	when := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, content := range map[string]string{"a.txt": "first", "sub/ü b?.txt": strings.Repeat("x", 300_000), "sub/deep/c": ""} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	remote := ":webdav,vendor=owncloud,url='" + w.base + "':"
	program(t, "", rclone, "sync", from, remote+"kept")
	program(t, "", rclone, "check", "--download", from, remote+"kept")
	before, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	program(t, "", rclone, "sync", from, remote+"kept")
	if after, err := w.db.Info(); err != nil || after.LastRevision != before.LastRevision {
		t.Errorf("what is there is brought again: %d, then %d, %v", before.LastRevision, after.LastRevision, err)
	}
	if listed := program(t, "", rclone, "lsf", "--format", "tp", "-R", "--files-only", remote+"kept"); !strings.Contains(listed, when.Local().Format(time.DateTime)+";sub/ü b?.txt") {
		t.Errorf("listed:\n%s", listed)
	}
	program(t, "", rclone, "moveto", remote+"kept/sub", remote+"kept/moved")
	if got, err := w.db.Tree().Resolve("kept/moved/deep/c"); err != nil || got.Size != 0 {
		t.Errorf("moved: %+v, %v", got, err)
	}
	program(t, "", rclone, "purge", remote+"kept")
	if _, err := w.db.Tree().Resolve("kept"); err == nil {
		t.Error("it is still there")
	}
}

// A person at cadaver makes a directory, puts, copies, locks, moves and removes.
func TestCadaverWorks(t *testing.T) {
	cadaver := need.Program(t, need.Cadaver)
	w := run(t, nil, nil)
	local := filepath.Join(t.TempDir(), "local.txt")
	if err := os.WriteFile(local, []byte("by cadaver"), 0o600); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(filepath.Dir(local), "back.txt")
	said := program(t, strings.Join([]string{
		"mkcol d", "cd d", "put " + local + " one.txt", "copy one.txt two.txt", "lock two.txt", "unlock two.txt", "move two.txt three.txt",
		"propset one.txt color blue", "propget one.txt color", "get one.txt " + back, "delete one.txt", "ls", "quit", "",
	}, "\n"), cadaver, w.base+"/")
	if strings.Contains(said, "failed") || !strings.Contains(said, "blue") || !strings.Contains(said, "three.txt") {
		t.Errorf("it says:\n%s", said)
	}
	if got, err := os.ReadFile(back); err != nil || string(got) != "by cadaver" {
		t.Errorf("what came back: %q, %v", got, err)
	}
	if got, err := w.db.Tree().Resolve("d/three.txt"); err != nil || got.Size != 10 {
		t.Errorf("moved: %+v, %v", got, err)
	}
	if _, err := w.db.Tree().Resolve("d/one.txt"); err == nil {
		t.Error("what was deleted is there")
	}
}
