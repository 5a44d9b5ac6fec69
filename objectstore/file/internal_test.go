package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

func TestSystemErrorsBecomeSentinels(t *testing.T) {
	for errno, want := range map[syscall.Errno]error{
		syscall.ENOSPC: objectstore.ErrNoSpace, syscall.EDQUOT: objectstore.ErrNoSpace,
		syscall.EACCES: objectstore.ErrPermissionDenied, syscall.EPERM: objectstore.ErrPermissionDenied, syscall.EROFS: objectstore.ErrPermissionDenied,
		syscall.ENOENT: objectstore.ErrNotFound, syscall.ENOTDIR: objectstore.ErrNotFound, syscall.ENAMETOOLONG: objectstore.ErrInvalidPath,
	} {
		err := classify(&fs.PathError{Op: "write", Path: "x", Err: errno})
		if !errors.Is(err, want) || !errors.Is(err, errno) {
			t.Errorf("%v becomes %v, want %v", errno, err, want)
		}
		if objectstore.IsTransient(err) {
			t.Errorf("%v is taken for transient", errno)
		}
	}
	if err := classify(&fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

func TestFullDiskLeavesNoTemporaryFile(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.writeTemp(false, func(file *os.File) error {
		if _, err := file.WriteString("some of it"); err != nil {
			return err
		}
		return &fs.PathError{Op: "write", Path: file.Name(), Err: syscall.ENOSPC}
	})
	if !errors.Is(s.fail("put", "x", err), objectstore.ErrNoSpace) {
		t.Fatal(err)
	}
	if names, err := s.names(tempDir); err != nil || len(names) > 0 {
		t.Fatalf("left %q, %v", names, err)
	}
}

func TestTimesAscendAndTellWhetherThereAreDetails(t *testing.T) {
	s, err := Open(t.TempDir(), &Options{Now: func() time.Time { return time.Unix(1, 999) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last time.Time
	for i := range 100 {
		detailed := i%3 == 0
		now := s.nextTime(detailed)
		if !now.After(last) || isPlain(now) == detailed {
			t.Fatalf("%v after %v, details %v", now, last, detailed)
		}
		last = now
	}
	// What a coarse file system, or another program, says counts for nothing.
	for _, ns := range []int64{0, 100, 12_000, 7} {
		if isPlain(time.Unix(5, ns)) {
			t.Errorf("%d ns says that there are no details", ns)
		}
	}
}

// TestBatchesListAsOne lists a random tree in batches of every small size.
func TestBatchesListAsOne(t *testing.T) {
	s, err := Open(t.TempDir(), &Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	for range 120 {
		segments := make([]string, 1+random.IntN(3))
		for i := range segments {
			segments[i] = string("ab-.0Z"[random.IntN(6)]) + fmt.Sprint(random.IntN(8))
		}
		path := strings.Join(segments, "/")
		if _, err := s.Put(t.Context(), objectstore.Path(path), objectstore.Bytes(nil), nil); err == nil && !slices.Contains(want, path) {
			want = append(want, path)
		}
	}
	slices.Sort(want)
	for _, size := range []int{1, 2, 3, 7, batchSize} {
		for _, offset := range []string{"", want[len(want)/2], want[3] + "/", "b"} {
			var got []string
			l := &lister{store: s, offset: offset, batch: size}
			l.object = func(meta objectstore.ObjectMeta) bool { got = append(got, string(meta.Path)); return true }
			l.dir = func(ctx context.Context, dir string) (bool, error) { return l.walk(ctx, dir) }
			if _, err := l.start(t.Context()); err != nil {
				t.Fatal(err)
			}
			first, _ := slices.BinarySearchFunc(want, offset, func(a, b string) int { return cmp.Or(cmp.Compare(a, b), -1) })
			if offset == "" {
				first = 0
			}
			if !slices.Equal(got, want[first:]) {
				t.Fatalf("batches of %d after %q list\n%q, want\n%q", size, offset, got, want[first:])
			}
		}
	}
}

// TestMillionFilesListInBoundedMemory takes minutes: STARDUST_LONG=1.
func TestMillionFilesListInBoundedMemory(t *testing.T) {
	if os.Getenv("STARDUST_LONG") == "" {
		t.Skip("set STARDUST_LONG=1")
	}
	dir := t.TempDir()
	const count = 1_000_000
	for i := range count {
		f, err := os.Create(fmt.Sprintf("%s/%032d", dir, (i*7919)%count))
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, last, most := 0, objectstore.Path(""), uint64(0)
	for meta, err := range s.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if meta.Path <= last {
			t.Fatalf("%q after %q", meta.Path, last)
		}
		last = meta.Path
		if n++; n%50_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	if n != count {
		t.Fatalf("listed %d", n)
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Fatalf("the list held %d bytes", grown)
	}
}
