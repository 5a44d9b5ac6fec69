package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPushFollows what another process commits, tells its metrics, and ends when it
// is interrupted, which is no failure.
func TestPushFollows(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "stardust", "put", "db", name, "/")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	put("first")
	p := start(t, dir, "push", "db", "file:bucket", "--follow", "--every", "10ms", "--metrics", "127.0.0.1:0")
	line, err := p.stderr.ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), "metrics at ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", line, err)
	}
	pushed := func(revision string) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for end := time.After(30 * time.Second); ; {
			answer, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			page, err := io.ReadAll(answer.Body)
			if answer.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(page), "\nstardust_bucket_pushed_revision "+revision+"\n") {
				return
			}
			select {
			case <-tick.C:
			case <-end:
				t.Fatalf("revision %s was not pushed:\n%s", revision, page)
			}
		}
	}
	pushed("2")
	put("second")
	pushed("4")
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code, stderr := p.end(t); code != 0 || strings.Count(p.stdout.String(), "Pushed 1 transaction") != 2 {
		t.Errorf("exit code %d, %q, and it said %q", code, stderr, p.stdout.String())
	}
}
