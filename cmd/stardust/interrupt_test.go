package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// process is a stardust process that a test talks to. TestMain puts the command
// into the path.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout bytes.Buffer
	stderr *bufio.Reader
}

func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startPrinting(t, dir, nil, args...)
}

// startPrinting starts one with its standard output, or with one that it keeps.
func startPrinting(t *testing.T, dir string, stdout io.Writer, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), "stardust", args...)}
	p.Dir = dir
	p.Stdout = stdout
	if stdout == nil {
		p.Stdout = &p.stdout
	}
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stderr = bufio.NewReader(stderr)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// expect waits for a line of standard error that holds a text.
func (p *process) expect(t *testing.T, text string) {
	t.Helper()
	for {
		line, err := p.stderr.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("%v never said %q", p.Args, text)
		}
	}
}

// end waits for the end and returns the exit code and the rest of standard error.
func (p *process) end(t *testing.T) (code int, stderr string) {
	t.Helper()
	rest, err := io.ReadAll(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode(), string(rest)
}

// stardust runs a command to its end.
func stardustCommand(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, dir, args...)
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	code, stderr = p.end(t)
	return code, p.stdout.String(), stderr
}

// An import that is interrupted says so, leaves a whole database, and takes up
// where it stopped when it is run again.
func TestInterruptedImportResumes(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			tree := filepath.Join(dir, "tree")
			if err := os.Mkdir(tree, 0o777); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				if err := os.WriteFile(filepath.Join(tree, name), []byte(name), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			// A file of holes that no import gets to the end of before the signal
			// comes.
			endless := filepath.Join(tree, "endless")
			if err := os.WriteFile(endless, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(endless, 1<<40); err != nil {
				t.Skipf("no sparse files: %v", err)
			}
			p := start(t, dir, "import", "db", "tree")
			p.expect(t, "created the database db")
			if err := p.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			code, stderr := p.end(t)
			if code != 130 || !strings.Contains(stderr, "stardust import: interrupted; ") ||
				!strings.Contains(stderr, "run the same command again") || strings.Count(stderr, "\n") != 1 {
				t.Fatalf("exit code %d, %q", code, stderr)
			}
			if code, stdout, stderr := stardustCommand(t, dir, "check", "db"); code != 0 {
				t.Fatalf("check after the interruption: %d, %s%s", code, stdout, stderr)
			}
			if err := os.Truncate(endless, 1<<20); err != nil {
				t.Fatal(err)
			}
			if code, stdout, stderr := stardustCommand(t, dir, "import", "db", "tree"); code != 0 || !strings.Contains(stdout, "0 failed") {
				t.Fatalf("second import: %d, %s%s", code, stdout, stderr)
			}
			code, stdout, _ := stardustCommand(t, dir, "ls", "db")
			if code != 0 || stdout != "a\nb\nendless\n" {
				t.Errorf("the database holds %q", stdout)
			}
		})
	}
}

// put ends at once when it is interrupted while it waits for standard input, and
// stores nothing.
func TestInterruptedPutStoresNothing(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "put", "db", "-", "file")
	p.expect(t, "created the database db")
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	code, stderr := p.end(t)
	if code != 130 || stderr != "stardust put: interrupted; nothing was stored\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if code, stdout, _ := stardustCommand(t, dir, "ls", "db"); code != 0 || stdout != "" {
		t.Errorf("ls: %d, %q", code, stdout)
	}
}

// While one process writes, others read, and a second writer is told who holds
// the file, within the time that it was given.
func TestSecondWriterIsToldWhoHoldsTheFile(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "put", "db", "-", "file")
	p.expect(t, "created the database db")
	code, _, stderr := stardustCommand(t, dir, "mkdir", "db", "late", "--lock-timeout", "0s")
	if code != 1 || !strings.Contains(stderr, "--lock-timeout") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("second writer: exit code %d, %q", code, stderr)
	}
	if code, stdout, stderr := stardustCommand(t, dir, "ls", "db"); code != 0 || stdout != "" {
		t.Errorf("a reader beside the writer: %d, %q %q", code, stdout, stderr)
	}
	if _, err := io.WriteString(p.stdin, "content"); err != nil {
		t.Fatal(err)
	}
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if code, stderr := p.end(t); code != 0 {
		t.Errorf("the writer: %d, %q", code, stderr)
	}
	if code, stdout, _ := stardustCommand(t, dir, "cat", "db", "file"); code != 0 || stdout != "content" {
		t.Errorf("cat: %d, %q", code, stdout)
	}
}
