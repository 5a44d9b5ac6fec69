package stardust

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust/internal/container"
)

// faultyDisk fails the nth operation on the file or its log. A full disk goes on
// to fail until there is room again; an error of the device happens once.
type faultyDisk struct {
	err   syscall.Errno
	n     int
	lying bool // the failed operation took place all the same

	mu      sync.Mutex
	count   int
	failing bool
	fired   bool
	kind    container.OpKind // of the first that failed
}

func (d *faultyDisk) hook(op container.Op, do func() error) error {
	if d.fails(op) {
		if d.lying {
			_ = do() // whatever becomes of it, the disk says it failed
		}
		return &fs.PathError{Op: op.Kind.String(), Path: "db", Err: d.err}
	}
	return do()
}

func (d *faultyDisk) fails(op container.Op) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	if d.count == d.n {
		d.fired, d.kind = true, op.Kind
		d.failing = d.err == syscall.ENOSPC
		return true
	}
	return d.failing && op.Kind == container.OpWrite
}

// repair makes the disk work again and reports whether it had failed.
func (d *faultyDisk) repair() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = false
	return d.fired
}

// faultScript is a script of all kinds of writes, after which everything that
// failed is tried once more.
func faultScript() []step {
	small, large := []byte("hello"), halves(1, 1800<<10)
	return []step{
		stepOpen(),
		stepUpload(small),
		stepUpload(large),
		stepCreate(`[{name dir} {name a digest {#sha256 "` + digestOf(small).String() + `"}}]`),
		stepUpdate(2, digestOf(large)),
		stepAbandon(noise(3, 5<<20)),
		stepImport(fstest.MapFS{"dir/x": {Data: []byte("x")}, "y": {Data: noise(4, 300<<10)}}),
		stepMove(2, 1, "moved", false),
		stepClose(),
		stepOpen(),
		stepUpload(noise(5, 500)),
		stepRemove(2),
		stepClose(),
	}
}

// runFaulty runs the script on a disk that fails once, and checks after every
// failure that the database goes on without the failed call. It reports whether
// the disk came to fail.
func runFaulty(t *testing.T, steps []step, states []string, disk *faultyDisk) bool {
	t.Helper()
	dir := FastDir(t)
	s := newSession(filepath.Join(dir, "db"))
	s.options.hook = disk.hook
	where := func(i int) string {
		return fmt.Sprintf("%v at operation %d, a %v, in step %d (%s)", disk.err, disk.n, disk.kind, i, steps[i].name)
	}
	for i, step := range steps {
		err := step.run(s)
		if err == nil {
			continue
		}
		if !disk.repair() {
			t.Fatalf("step %d (%s) failed without a fault: %v", i, step.name, err)
		}
		if !errors.Is(err, StatusIO) {
			t.Errorf("%s: %v, want io_error", where(i), err)
		}
		var e *Error
		if disk.err == syscall.ENOSPC && (!errors.As(err, &e) || e.Code != CodeNoSpace) {
			t.Errorf("%s: %v, want the code no_space", where(i), err)
		}
		if s.db != nil {
			if state, err := stateOf(s.db, s.payloads); err != nil || i > 0 && state != states[i-1] {
				t.Fatalf("%s: afterwards the database holds\n%s\n%v, want\n%s", where(i), state, err, states[i-1])
			}
		}
		if err := crashNow(dir, s, states[max(i-1, 0)], states[i]); err != nil {
			t.Fatalf("%s: a crash right after: %v", where(i), err)
		}
		if err := step.run(s); err != nil {
			t.Fatalf("%s: tried again: %v", where(i), err)
		}
		if s.db != nil {
			if state, err := stateOf(s.db, s.payloads); err != nil || state != states[i] {
				t.Fatalf("%s: tried again the database holds\n%s\n%v, want\n%s", where(i), state, err, states[i])
			}
		}
	}
	if !disk.repair() {
		return false
	}
	if err := s.open(); err != nil {
		t.Fatalf("%s: opened again: %v", where(len(steps)-1), err)
	}
	state, err := stateOf(s.db, s.payloads)
	if err = errors.Join(err, checkClean(s.db), s.close(), alone(s.path)); err != nil || state != states[len(states)-1] {
		t.Fatalf("%s: opened again it holds\n%s\n%v, want\n%s", where(len(steps)-1), state, err, states[len(states)-1])
	}
	return true
}

// crashNow copies the file and its log as they are, and checks that the copy
// holds the state before or after the failed step.
func crashNow(dir string, s *session, before, after string) error {
	c := newSession(filepath.Join(dir, "copy"))
	if err := copyFile(s.path, c.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) && s.db == nil {
			return nil // it could not be created
		}
		return err
	}
	if err := copyFile(s.path+"-wal", c.path+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	state, err := stateOf(c.db, s.payloads)
	err = errors.Join(err, checkClean(c.db), c.close())
	if err == nil && state != before && state != after {
		err = fmt.Errorf("it holds\n%s\nwant\n%s\nor\n%s", state, before, after)
	}
	return err
}

// TestAfterAFailedOperationTheDatabaseGoesOn fails the nth operation on the
// disk, for all n (for some unless STARDUST_LONG is set): the call reports
// io_error and did nothing, the next ones work, and what was acknowledged is
// there after another open.
func TestAfterAFailedOperationTheDatabaseGoesOn(t *testing.T) {
	steps := faultScript()
	states, operations := faultlessStates(t, steps)
	stride := max(1, operations/9)
	if LongTests() {
		stride = 1
	}
	for _, fault := range []struct {
		err   syscall.Errno
		lying bool
	}{
		{syscall.EIO, false},
		{syscall.EIO, true},
		{syscall.ENOSPC, false},
	} {
		t.Run(fmt.Sprintf("%v lying %v", fault.err, fault.lying), func(t *testing.T) {
			failed := 0
			offset := int(fault.err) % stride
			if fault.lying {
				offset = stride / 2
			}
			for n := 1 + offset; n <= operations+stride; n += stride {
				if runFaulty(t, steps, states, &faultyDisk{err: fault.err, lying: fault.lying, n: n}) {
					failed++
				}
			}
			if failed < 6 {
				t.Errorf("only %d of %d operations failed", failed, operations)
			}
			t.Logf("%d of about %d operations failed", failed, operations)
		})
	}
}

// faultlessStates runs the script on a good disk.
func faultlessStates(t *testing.T, steps []step) (states []string, operations int) {
	t.Helper()
	s := newSession(filepath.Join(FastDir(t), "db"))
	disk := &faultyDisk{}
	s.options.hook = disk.hook
	state := ""
	for _, step := range steps {
		err := step.run(s)
		if err == nil && s.db != nil {
			state, err = stateOf(s.db, s.payloads)
		}
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		states = append(states, state)
	}
	return states, disk.count
}
