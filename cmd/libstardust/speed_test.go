package main_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stardustdb/stardust"
)

// long returns what asks for the long tests.
func long(t *testing.T) string {
	t.Helper()
	return os.Getenv("STARDUST_LONG")
}

const (
	// most is how many times as long as in Go a call may take from C. The bar is
	// a microsecond more, about a fifth; what a machine takes for either is its
	// own affair, so the test tells the figure and holds a ratio with room.
	most   = 1.6
	rounds = 100
	calls  = 300 // as in speed.c
)

// The least of many rounds, by turns in C and in Go, in processor time of the
// thread: other load doesn't count.
func (l *library) testSpeed(t *testing.T) {
	program := l.compile(t, "gcc", "speed")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, dir)
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
	answers := bufio.NewReader(out)
	inGo := newGoCalls(t, filepath.Join(dir, "speed-go.stardust"))
	least, leastGo := math.Inf(1), math.Inf(1)
	for range rounds {
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		took, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			t.Fatal(err)
		}
		least, leastGo = min(least, took), min(leastGo, inGo(t))
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("a call from C took %.0f ns, from Go %.0f ns: %.0f more", least, leastGo, least-leastGo)
	if least > most*leastGo {
		t.Errorf("a call from C takes %.2f times as long as from Go, at most %v", least/leastGo, most)
	}
}

// newGoCalls returns a function that makes the calls of speed.c and returns the
// nanoseconds that one took.
func newGoCalls(t *testing.T, path string) func(*testing.T) float64 {
	t.Helper()
	db, err := stardust.Open(path, &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	nodes, err := stardust.Parse([]byte("[{name notes}]"), stardust.DUST)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Call("objects", "create", nodes); err != nil {
		t.Fatal(err)
	}
	request, err := stardust.Parse([]byte("entity 1"), stardust.DUST)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T) float64 {
		t.Helper()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		begin := threadTime(t)
		for range calls {
			result, err := db.Call("objects", "get", request)
			if err != nil {
				t.Fatal(err)
			}
			_ = result.Close()
		}
		return float64(threadTime(t)-begin) / calls
	}
}

// threadTime is how long this thread ran.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
