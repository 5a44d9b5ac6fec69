//go:build linux

package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// model is what one who handles batches knows of a directory: its files' contents.
type model map[string]string

// apply looks at what a batch names, and at nothing else.
func (m model) apply(t *testing.T, dir string, b Batch) {
	if b.All {
		clear(m)
		b.Paths = []string{"."}
	}
	for _, path := range b.Paths {
		for known := range m {
			if known == path || strings.HasPrefix(known, path+"/") {
				delete(m, known)
			}
		}
		err := filepath.WalkDir(filepath.Join(dir, path), func(at string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(at)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return nil // its end is a change, too
			}
			rel, _ := filepath.Rel(dir, at)
			m[rel] = string(text)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// running is a watch of a directory.
type running struct {
	dir    string
	known  model
	marks  chan string // each mark that was handled
	end    context.CancelFunc
	result chan error
	all    int // batches of everything
}

func start(t *testing.T, dir string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{dir: dir, known: make(model), marks: make(chan string, 1000), end: cancel, result: make(chan error, 1)}
	options := Options{Dir: dir, Quiet: 5 * time.Millisecond, Most: 50 * time.Millisecond, Retry: time.Millisecond, Now: time.Now}
	go func() {
		r.result <- Run(ctx, options, func(_ context.Context, b Batch) ([]string, error) {
			if b.All {
				r.all++
			}
			r.known.apply(t, dir, b)
			for path := range r.known {
				if strings.HasPrefix(path, "mark") {
					r.marks <- path
				}
			}
			return nil, nil
		})
	}()
	t.Cleanup(cancel)
	return r
}

// reach makes a last change and waits until it was handled, and so all before it.
func (r *running) reach(t *testing.T, mark string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, mark), []byte(mark), 0o666); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case seen := <-r.marks:
			if seen == mark {
				return
			}
		case err := <-r.result:
			t.Fatalf("the watch ended: %v", err)
		case <-time.After(time.Minute):
			t.Fatalf("%s is not seen", mark)
		}
	}
}

// TestNothingThatChangesIsMissed makes, changes, moves and removes files and
// directories as fast as it can; one who looks only at what the batches name knows
// everything in the end.
func TestNothingThatChangesIsMissed(t *testing.T) {
	for seed := range uint64(2) {
		dir := t.TempDir()
		r := start(t, dir)
		r.reach(t, "mark-begin")
		random := rand.New(rand.NewPCG(seed, 1))
		name := func() string {
			parts := make([]string, 1+random.IntN(3))
			for i := range parts {
				parts[i] = string(rune('a' + random.IntN(4)))
			}
			return filepath.Join(dir, filepath.Join(parts...))
		}
		for i := range 150 {
			switch path := name(); random.IntN(8) {
			case 0, 1, 2, 3: // whatever does not work is no change
				_ = os.MkdirAll(filepath.Dir(path), 0o777)
				_ = os.WriteFile(path, []byte(strconv.Itoa(i)), 0o666)
			case 4, 5:
				_ = os.Rename(path, name())
			case 6:
				_ = os.Remove(path)
			case 7:
				_ = os.RemoveAll(path)
			}
		}
		r.reach(t, "mark-end")
		r.end()
		if err := <-r.result; err != nil {
			t.Fatal(err)
		}
		want := make(model)
		want.apply(t, dir, Batch{All: true})
		if !maps.Equal(r.known, want) {
			t.Errorf("seed %d: known is\n%v, and there is\n%v", seed, r.known, want)
		}
	}
}

// TestADirectoryThatMovedIsStillWatched changes a file far inside it afterwards.
func TestADirectoryThatMovedIsStillWatched(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "z", "s", "t")
	if err := os.MkdirAll(filepath.Join(dir, "d", "s", "t"), 0o777); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir)
	r.reach(t, "mark-begin")
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "z")); err != nil {
		t.Fatal(err)
	}
	r.reach(t, "mark-moved")
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(inner, "f"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r.reach(t, "mark-"+text)
	}
	r.end()
	if err := <-r.result; err != nil || r.known["z/s/t/f"] != "two" {
		t.Errorf("known is %v, %v", r.known, err)
	}
}

// TestTheEndBringsWhatChangedJustBefore makes a change and ends the watch at once, when
// nobody can have told it of the change yet.
func TestTheEndBringsWhatChangedJustBefore(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		r := start(t, dir)
		r.reach(t, "mark")
		if err := os.WriteFile(filepath.Join(dir, "last"), []byte("last"), 0o666); err != nil {
			t.Fatal(err)
		}
		r.end()
		if err := <-r.result; err != nil || r.known["last"] != "last" {
			t.Fatalf("known is %v, %v", r.known, err)
		}
	}
}

// TestAQueueThatRunsOverIsNoLoss makes more changes than the system keeps while
// nobody takes them.
func TestAQueueThatRunsOverIsNoLoss(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	limit, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil || limit > 20000 {
		t.Skipf("the queue's limit is not known or too large: %d, %v, %v", limit, err, bad)
	}
	dir := t.TempDir()
	tr, err := newTree(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	for i := range limit/2 + 4096 { // two changes each, and some are under way
		name := filepath.Join(dir, strconv.Itoa(i%100))
		if err := os.WriteFile(name, []byte{1}, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for {
		select {
		case c := <-tr.changes():
			if c.lost {
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nobody says that changes were lost")
		}
	}
}

// TestTheEndOfTheDirectoryEndsTheWatch moves it away, with everything still in it.
func TestTheEndOfTheDirectoryEndsTheWatch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "watched")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir)
	r.reach(t, "mark")
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := <-r.result; !errors.Is(err, errGone) {
		t.Errorf("it ends with %v", err)
	}
	if _, kept := r.known["mark"]; !kept {
		t.Errorf("what was known is %v", r.known)
	}
}

const limitedEnv = "STARDUST_TEST_LIMITED"

// TestTheLimitOfWatchesIsTold runs in a namespace of its own whose limit is low.
func TestTheLimitOfWatchesIsTold(t *testing.T) {
	if dir := os.Getenv(limitedEnv); dir != "" {
		if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("2"), 0); err != nil {
			fmt.Println("cannot limit:", err)
			return
		}
		_, err := newTree(dir, nil)
		fmt.Println("error:", err)
		return
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheLimitOfWatchesIsTold$")
	cmd.Env = append(os.Environ(), limitedEnv+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "cannot limit") {
		t.Skipf("no namespace of users here: %v, %s", err, out)
	}
	if !strings.Contains(string(out), "the system watches no more directories: raise its limit fs.inotify.max_user_watches") {
		t.Errorf("it says %s", out)
	}
}
