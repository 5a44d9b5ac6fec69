package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// interruptedRun starts a command, waits until the server holds a request of it,
// and interrupts it.
func interruptedRun(t *testing.T, h *holdingServer, dir string, signal os.Signal, args ...string) (code int, stderr string) {
	t.Helper()
	p := start(t, dir, args...)
	<-h.reached
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return p.end(t)
}

// What reads a large object and is interrupted leaves nothing, says so, and ends
// with 130.
func TestInterruptedReadsLeaveNothing(t *testing.T) {
	isBig := func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/big") }
	for _, c := range []struct {
		name, note string
		args       []string
		left       []string
	}{
		{"get", "stardust store get: interrupted; no local file was written\n", []string{"store", "get", "BIG", "local"}, nil},
		{"cp", "stardust store cp: interrupted; nothing was stored\n", []string{"store", "cp", "BIG", "file:to/big"}, nil},
		{
			"cp recursive", "stardust store cp: interrupted; 1 object copied; the same command copies everything again\n",
			[]string{"store", "cp", "-r", "ALL", "file:to"},
			[]string{"a"},
		},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(c.name+" "+signal.String(), func(t *testing.T) {
				h := newHoldingServer(t, isBig)
				h.put(t, "some/a", 1000)
				h.put(t, "some/big", 1<<20)
				dir := t.TempDir()
				args := slices.Clone(c.args)
				for i, arg := range args {
					switch arg {
					case "BIG":
						args[i] = h.at("some/big")
					case "ALL":
						args[i] = h.at("some")
					}
				}
				p := start(t, dir, args...)
				<-h.reached
				if c.name == "cp recursive" {
					waitForFile(t, filepath.Join(dir, "to", "a"))
				}
				if err := p.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				code, stderr := p.end(t)
				if code != 130 || stderr != c.note {
					t.Errorf("exit code %d, %q", code, stderr)
				}
				left := localFiles(t, dir)
				if c.left != nil { // what was copied has attributes
					left = slices.DeleteFunc(left, func(name string) bool { return strings.HasSuffix(name, ".json") })
				}
				if !slices.Equal(left, c.left) {
					t.Errorf("left behind: %q", left)
				}
			})
		}
	}
}

// What writes an object in parts and is interrupted leaves neither the object nor
// an upload.
func TestInterruptedWritesLeaveNothing(t *testing.T) {
	isPart := func(r *http.Request) bool { return r.Method == http.MethodPut }
	for _, name := range []string{"put", "put small", "put stdin", "cp"} {
		t.Run(name, func(t *testing.T) {
			h := newHoldingServer(t, isPart)
			dir := t.TempDir()
			size := int64(multipartSize + 1)
			if name == "put small" {
				size = 100
			}
			local := filepath.Join(dir, "local")
			if err := os.WriteFile(local, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(local, size); err != nil {
				t.Fatal(err)
			}
			args := []string{"store", "put", "local", h.at("to")}
			if name == "cp" {
				args = []string{"store", "cp", "./local", h.at("to")}
			}
			if name == "put stdin" {
				args[2] = "-"
			}
			p := startWith(t, dir, local, name == "put stdin", args...)
			<-h.reached
			if err := p.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			code, stderr := p.end(t)
			want := "stardust store " + args[1] + ": interrupted; nothing was stored\n"
			if code != 130 || stderr != want {
				t.Errorf("exit code %d, %q", code, stderr)
			}
			if left := h.remains(t); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
		})
	}
}

// put ends at once when it is interrupted while it waits for standard input.
func TestInterruptedStorePutOfStandardInputStoresNothing(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "store", "put", "-", "./store/x", "-v")
	// Nothing tells that it waits, but it has to wait: standard input stays open.
	waitForFile(t, filepath.Join(dir, "store"))
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	code, stderr := p.end(t)
	if code != 130 || stderr != "stardust store put: interrupted; nothing was stored\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if left := localFiles(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// An interrupted warming keeps what is whole, and nothing else; the next one
// goes on from there.
func TestInterruptedWarmingGoesOn(t *testing.T) {
	var held atomic.Bool
	held.Store(true)
	h := newHoldingServer(t, func(r *http.Request) bool {
		return held.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/big")
	})
	h.put(t, "db/a", 1000)
	h.put(t, "db/big", 1<<20)
	dir := t.TempDir()
	args := []string{"mirror", "warm", "--upstream", h.at(""), "--dir", "m", "--downloads", "1"}
	code, stderr := interruptedRun(t, h, dir, os.Interrupt, args...)
	if code != 130 || stderr != "stardust mirror warm: interrupted; what was downloaded stays; run the same command again to continue\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for _, name := range localFiles(t, filepath.Join(dir, "m")) {
		if strings.Contains(name, ".big.") {
			t.Errorf("a temporary file stayed: %s", name)
		}
	}
	held.Store(false) // the process that was held is gone
	code, stdout, stderr := stardustCommand(t, dir, args...)
	if code != 0 || stdout != "2 objects local (1.0 MiB), 1 object downloaded (1.0 MiB).\n" {
		t.Errorf("second warming: %d, %s%s", code, stdout, stderr)
	}
}
