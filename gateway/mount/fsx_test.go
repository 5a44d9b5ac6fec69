//go:build linux

package mount

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// fsxTime is how long TestRandomAccessIsThatOfAPlainFile goes on.
var fsxTime = flag.Duration("fsx", 0, "how long random access is compared with a plain file's (0: 5 s, with STARDUST_LONG=1 10 min)")

// longVariable is set for a run that has the time.
const longVariable = "STARDUST_LONG"

// fsxVariable makes the test program the one that uses the mount: a page fault
// on a mapped file must not wait for a server in the same process.
const fsxVariable = "STARDUST_TEST_FSX"

func TestMain(m *testing.M) {
	flag.Parse()
	if seed := os.Getenv(fsxVariable); seed != "" {
		if err := runFSX(seed, flag.Args()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Random reads, writes, appends, truncations, mapped writes, fsyncs, and closes
// in between: a file on the mount always has what a plain file has.
func TestRandomAccessIsThatOfAPlainFile(t *testing.T) {
	f := mounted(t, nil)
	plain := t.TempDir()
	if *fsxTime == 0 {
		*fsxTime = 5 * time.Second
		if os.Getenv(longVariable) == "1" {
			*fsxTime = 10 * time.Minute
		}
	}
	seed := rand.Uint64()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-fsx", fsxTime.String(), f.path("file"), plain+"/file")
	cmd.Env = append(os.Environ(), fsxVariable+"="+strconv.FormatUint(seed, 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, out)
	}
	want, err := os.ReadFile(plain + "/file")
	if err != nil {
		t.Fatal(err)
	}
	if f.content("file") != string(want) {
		t.Errorf("seed %d: the database has another content", seed)
	}
	f.stop()
	report, err := f.db.Check(t.Context(), nil)
	if err != nil || report.Damaged > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// exerciser does the same to two files and compares them.
type exerciser struct {
	random *rand.Rand
	paths  []string
	files  []*os.File
	size   int64
	step   int
	log    []string
}

const fsxMost = 3 << 20

func runFSX(seed string, paths []string) error {
	number, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return err
	}
	x := &exerciser{random: rand.New(rand.NewPCG(number, 1)), paths: paths, files: make([]*os.File, 2)}
	if err := x.reopen(os.O_CREATE); err != nil {
		return err
	}
	for end := time.Now().Add(*fsxTime); time.Now().Before(end); x.step++ {
		if err := x.one(); err != nil {
			return fmt.Errorf("step %d: %w\n%v", x.step, err, x.log[max(0, len(x.log)-20):])
		}
	}
	for _, f := range x.files {
		if err := f.Close(); err != nil {
			return err
		}
	}
	fmt.Println(x.step, "steps")
	return nil
}

func (x *exerciser) note(format string, args ...any) {
	x.log = append(x.log, fmt.Sprintf(format, args...))
}

func (x *exerciser) reopen(flags int) error {
	for i, path := range x.paths {
		if x.files[i] != nil {
			if err := x.files[i].Close(); err != nil {
				return err
			}
		}
		f, err := os.OpenFile(path, os.O_RDWR|flags, 0o644)
		if err != nil {
			return err
		}
		x.files[i] = f
	}
	return nil
}

func (x *exerciser) one() error {
	offset := x.random.Int64N(x.size + 10_000)
	length := 1 + x.random.IntN(1<<x.random.IntN(18))
	switch n := x.random.IntN(100); {
	case n < 35:
		return x.write(offset, length)
	case n < 70:
		return x.read(offset, length)
	case n < 80:
		size := x.random.Int64N(min(x.size+50_000, fsxMost))
		x.note("truncate %d", size)
		x.size = size
		return x.both(func(f *os.File) error { return f.Truncate(size) })
	case n < 90:
		return x.mapped(offset, length)
	case n < 95:
		x.note("sync")
		return x.both((*os.File).Sync)
	case n < 99:
		x.note("reopen")
		return x.reopen(0)
	}
	x.note("empty")
	x.size = 0
	return x.reopen(os.O_TRUNC)
}

func (x *exerciser) both(do func(*os.File) error) error {
	for _, f := range x.files {
		if err := do(f); err != nil {
			return err
		}
	}
	return x.compareSizes()
}

func (x *exerciser) compareSizes() error {
	for _, f := range x.files {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if info.Size() != x.size {
			return fmt.Errorf("%s has %d bytes, want %d", f.Name(), info.Size(), x.size)
		}
	}
	return nil
}

func (x *exerciser) bytes(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(x.random.Uint32())
	}
	return p
}

func (x *exerciser) write(offset int64, length int) error {
	if offset+int64(length) > fsxMost {
		return nil
	}
	x.note("write %d at %d", length, offset)
	x.size = max(x.size, offset+int64(length))
	p := x.bytes(length)
	return x.both(func(f *os.File) error {
		_, err := f.WriteAt(p, offset)
		return err
	})
}

func (x *exerciser) read(offset int64, length int) error {
	x.note("read %d at %d", length, offset)
	var got [2][]byte
	for i, f := range x.files {
		p := make([]byte, length)
		n, err := f.ReadAt(p, offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		got[i] = p[:n]
	}
	if !bytes.Equal(got[0], got[1]) {
		return fmt.Errorf("read %d at %d of %d: different bytes (%d and %d)", length, offset, x.size, len(got[0]), len(got[1]))
	}
	return nil
}

// mapped writes through a shared mapping.
func (x *exerciser) mapped(offset int64, length int) error {
	offset = min(offset, x.size)
	length = int(min(int64(length), x.size-offset))
	if length == 0 {
		return nil
	}
	x.note("mapped write %d at %d", length, offset)
	p := x.bytes(length)
	start := offset &^ 4095
	for _, f := range x.files {
		m, err := syscall.Mmap(int(f.Fd()), start, length+int(offset-start), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			return err
		}
		copy(m[offset-start:], p)
		if err := syscall.Munmap(m); err != nil {
			return err
		}
	}
	return nil
}
