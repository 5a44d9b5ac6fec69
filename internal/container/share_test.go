package container

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain is also the other process: with STARDUST_CHILD set the test binary
// does what the variable says and waits for its standard input to end.
func TestMain(m *testing.M) {
	if what := os.Getenv("STARDUST_CHILD"); what != "" {
		if err := child(what, os.Getenv("STARDUST_FILE")); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(what, path string) error {
	c, err := Open(path, Options{ReadOnly: what == "read", LockTimeout: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	conn, err := dial(c)
	if err != nil {
		return err
	}
	if what == "read" {
		n, err := queryText(conn, `SELECT count(*) FROM t`)
		if err != nil {
			return err
		}
		fmt.Println("rows", n)
	} else {
		if err := conn.Exec(`INSERT INTO t (b) VALUES ('child')`); err != nil {
			return err
		}
		fmt.Println("wrote")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.Join(conn.Close(), c.Close())
}

// other is another process that has the file open.
type other struct {
	cmd  *exec.Cmd
	said string
	in   io.Closer
}

func startChild(t *testing.T, what, path string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STARDUST_CHILD="+what, "STARDUST_FILE="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	return &other{cmd, strings.TrimSpace(line), in}
}

func (o *other) finish(t *testing.T) {
	t.Helper()
	_ = o.in.Close()
	if err := o.cmd.Wait(); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

// table makes a file with a table.
func table(t *testing.T, path string) {
	t.Helper()
	c := openTest(t, path, Options{Create: true})
	conn := connect(t, c)
	run(t, conn, `CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	if err := errors.Join(conn.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestASecondWriterIsToldWhoHasTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	table(t, path)
	c := openTest(t, path, Options{})
	for _, o := range []Options{{}, {LockTimeout: 30 * time.Millisecond}, {Create: true}} {
		_, err := Open(path, o)
		var locked *LockedError
		if !errors.As(err, &locked) || locked.Holder.PID != int64(os.Getpid()) || !errors.Is(err, ErrLocked) {
			t.Errorf("in this process: %v", err)
		}
	}
	child := startChild(t, "write", path)
	if want := fmt.Sprintf("process %d on host", os.Getpid()); !strings.Contains(child.said, want) {
		t.Errorf("the other process says %q, want %q in it", child.said, want)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	child = startChild(t, "write", path)
	if child.said != "wrote" {
		t.Fatalf("after close the other process says %q", child.said)
	}
	_, err := Open(path, Options{})
	if want := fmt.Sprintf("process %d on host", child.cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q in it", err, want)
	}
	child.finish(t)
	openTest(t, path, Options{})
}

func TestAWaitingWriterGetsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	first := openTest(t, path, Options{Create: true})
	var wg sync.WaitGroup
	began := make(chan struct{})
	wg.Go(func() {
		close(began)
		c, err := Open(path, Options{LockTimeout: time.Minute})
		if err != nil {
			t.Error(err)
			return
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	<-began
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestAKilledWriterLeavesAFileThatOpens(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	table(t, path)
	for i := range 3 {
		child := startChild(t, "write", path)
		if child.said != "wrote" {
			t.Fatal(child.said)
		}
		if err := child.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.cmd.Wait()
		if i == 1 { // a reader comes first, and finds what was committed
			c := openTest(t, path, Options{ReadOnly: true})
			conn := connect(t, c)
			wantText(t, conn, `SELECT count(*) FROM t`, "2")
			if err := errors.Join(conn.Close(), c.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := openTest(t, path, Options{})
	conn := connect(t, c)
	wantText(t, conn, `SELECT count(*) FROM t`, "3")
	if err := errors.Join(conn.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "db" {
		t.Errorf("left behind: %s", got)
	}
}

func TestReadersSeeWhatAWriterCommits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	table(t, path)
	reader := openTest(t, path, Options{ReadOnly: true}) // before the writer, in this process
	readConn := connect(t, reader)
	wantText(t, readConn, `SELECT count(*) FROM t`, "0")
	writer := openTest(t, path, Options{})
	conn := connect(t, writer)
	// Enough to add extents, which the reader learns of when it needs them.
	for i := range 6 {
		run(t, conn, `INSERT INTO t (b) SELECT randomblob(3000) FROM generate_series(1, 100)`)
		if i%2 == 0 {
			run(t, conn, `PRAGMA wal_checkpoint(PASSIVE)`)
		}
		want := fmt.Sprint(100 * (i + 1))
		wantText(t, readConn, `SELECT count(*) FROM t WHERE length(b) = 3000`, want)
		if i == 3 {
			child := startChild(t, "read", path)
			if child.said != "rows "+want {
				t.Errorf("another process says %q", child.said)
			}
			child.finish(t)
		}
	}
	wantText(t, readConn, `PRAGMA integrity_check`, "ok")
	if err := readConn.Exec(`INSERT INTO t (b) VALUES (1)`); err == nil {
		t.Error("a reader could write")
	}
	if err := errors.Join(conn.Close(), writer.Close(), readConn.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "db" {
		t.Logf("the last one to leave was a reader: %s", got)
	}
	again := openTest(t, path, Options{})
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "db" {
		t.Errorf("left behind: %s", got)
	}
}
