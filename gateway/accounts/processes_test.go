package accounts_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/gateway/accounts"
)

// What a process of TestTwoProcessesLoseNothing is told.
const (
	pathVariable = "STARDUST_TEST_ACCOUNTS"
	nameVariable = "STARDUST_TEST_NAME"
)

const changesEach = 40

func TestTwoProcessesLoseNothing(t *testing.T) {
	if path := os.Getenv(pathVariable); path != "" {
		changeAccounts(t, path, os.Getenv(nameVariable))
		return
	}
	path := filepath.Join(t.TempDir(), "accounts")
	link := filepath.Join(t.TempDir(), "link")
	if f, err := accounts.Open(path, true); err != nil {
		t.Fatal(err)
	} else if _, err := f.AddToken(accounts.Token{Name: "first"}, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		link = path // a system without links
	}
	var started []io.Closer
	var running []*exec.Cmd
	for i, at := range []string{path, link} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwoProcessesLoseNothing$")
		cmd.Env = append(os.Environ(), pathVariable+"="+at, fmt.Sprintf("%s=p%d", nameVariable, i))
		cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
		start, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started, running = append(started, start), append(running, cmd)
	}
	for _, start := range started {
		_ = start.Close() // both begin
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process: %v", err)
		}
	}
	f, err := accounts.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.Tokens()); n != 1+2*changesEach {
		t.Errorf("%d of %d tokens are there", n, 1+2*changesEach)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".accounts-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// changeAccounts makes tokens once the other process runs, too.
func changeAccounts(t *testing.T, path, name string) {
	f, err := accounts.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
	for i := range changesEach {
		if _, err := f.AddToken(accounts.Token{Name: fmt.Sprintf("%s-%d", name, i)}, false); err != nil {
			t.Fatal(err)
		}
	}
}
