package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

// testEnv returns a world for commands that run within the test's process. What
// they print is in the builder; e.err is another one.
func testEnv() (*env, *strings.Builder) {
	out := &strings.Builder{}
	return &env{in: strings.NewReader(""), out: bufio.NewWriter(out), err: &strings.Builder{}, now: time.Now}, out
}

func TestLocationsOfObjects(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.MkdirAll("store/"+file.Folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("store/inner/"+file.Folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("plain/deep", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, name, store, path string }{
		{"s3://bucket/a/b", "", "s3://bucket", "a/b"},
		{"s3://bucket/a%20b%2F?endpoint=http://x:1", "", "s3://bucket?endpoint=http://x:1", "a b/"},
		{"s3://bucket/dir/", "n", "s3://bucket", "dir/n"},
		{"s3://bucket", "n", "s3://bucket", "n"},
		{"s3://bucket/dir", "n", "s3://bucket", "dir"},
		{"s3://bucket//double//x", "", "s3://bucket", "/double//x"},
		{"memory:///a/b", "", "memory:", "a/b"},
		{"file:///none/a", "", "file:///none", "a"},
		{"file:///none/deep/er/a", "", "file:///none", "deep/er/a"},
		{"file:new/a", "", "file://" + dir + "/new", "a"},
		{"./new/deep/er/", "a", "file://" + dir + "/new", "deep/er/a"},
		{"./plain/deep/a", "", "file://" + dir + "/plain/deep", "a"},
		{"file:store/deep/er/a?sync=false", "", "file://" + dir + "/store?sync=false", "deep/er/a"},
		{"./store/inner/a", "", "file://" + dir + "/store/inner", "a"},
		{"./store/inner/", "n", "file://" + dir + "/store/inner", "n"},
		{"./store/deep/", "n", "file://" + dir + "/store", "deep/n"},
		{"./store/../store/x", "", "file://" + dir + "/store", "x"},
		{"./store/.stardust/x", "", "file://" + dir + "/store", ".stardust/x"},
		{"./a%20b?c#d", "", "file://" + dir, "a%20b?c#d"},
		{"file:a%20b%3Fc%23d", "", "file://" + dir, "a b?c#d"},
	} {
		l, err := locate(c.url, true)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		path, err := l.object(c.name)
		if strings.TrimSuffix(l.store, "//") != c.store || path.String() != c.path || err != nil {
			t.Errorf("%s lies in %q at %q (%v), want %q at %q", c.url, l.store, path, err, c.store, c.path)
		}
	}
}

func TestLocationsThatAreNone(t *testing.T) {
	for _, raw := range []string{"%zz", "s3://bucket", "s3://bucket/", "file:%zz", "s3://b/%00"} {
		l, err := locate(raw, true)
		if err == nil {
			_, err = l.object("")
		}
		if _, ok := errors.AsType[*usageError](err); !ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestStoreErrorsNameTheThingOnce(t *testing.T) {
	call := func(op, path string, err error) error {
		return &objectstore.Error{Op: op, Store: "file:///x", Path: path, Err: err}
	}
	missing := fmt.Errorf("%w: %w", objectstore.ErrNotFound, fs.ErrNotExist)
	for _, c := range []struct {
		subject string
		err     error
		want    string
	}{
		{"./x", call("open", "", call("open", "", missing)), "./x: there is no such directory"},
		{"./x/a", call("get", "a", call("get", "a", objectstore.ErrNotFound)), "./x/a: object not found"},
		{"s3://b/a?region=x", call("get", "a", objectstore.ErrNotFound), "s3://b/a?region=x: object not found"},
		{"./x", call("get", "a", objectstore.ErrNotFound), "./x: a: object not found"},
		{"db/x?y", call("get", "db/x?y", objectstore.ErrNotFound), "db/x?y: object not found"},
		{"./x", call("open", "", fmt.Errorf("%w: no bucket", objectstore.ErrInvalidOption)), "./x: no bucket"},
		{"m", call("build", "", &mirror.InvalidConfig{Message: "choose another directory"}), "m: choose another directory"},
		{"a", call("verify", "a", &mirror.Local{Path: "a", Op: "verify", Source: io.ErrUnexpectedEOF}), "a: unexpected EOF"},
		{"m", &mirror.Local{Op: "make the directory", Source: &fs.PathError{Op: "mkdir", Path: "/m", Err: fs.ErrPermission}}, "m: make the directory: /m: permission denied"},
		{"s3://k:secret@b", io.EOF, "s3://k:xxxxx@b: EOF"},
		{"./x", aboutStore("./y", io.EOF), "./y: EOF"},
	} {
		got := aboutStore(c.subject, c.err)
		if got.Error() != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if !errors.Is(got, errors.Unwrap(got)) || aboutStore("./z", nil) != nil {
			t.Error("the cause is lost")
		}
	}
}

// A source that is cut off is no end: the parts so far must not become an object.
func TestACutOffSourceIsNoEnd(t *testing.T) {
	for _, cause := range []error{io.ErrUnexpectedEOF, io.ErrClosedPipe, fmt.Errorf("wrapped: %w", io.EOF)} {
		part := make([]byte, 10)
		n, err := readPart(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(cause)), part)
		if n != 3 || !errors.Is(err, cause) || err == io.EOF { // a bare EOF is an end
			t.Errorf("%v: %d bytes, %v", cause, n, err)
		}
	}
	part := make([]byte, 3)
	r := iotest.OneByteReader(strings.NewReader("abcd"))
	if n, err := readPart(r, part); n != 3 || err != nil {
		t.Errorf("a full part: %d, %v", n, err)
	}
	if n, err := readPart(r, part); n != 1 || err != io.EOF { // as above
		t.Errorf("the last part: %d, %v", n, err)
	}
}

// However large an object is, it has no more parts than S3 takes.
func TestPartsDoNotBecomeTooMany(t *testing.T) {
	for _, size := range []int64{1, partSize, partSize * maxParts, partSize*maxParts + 1, 5 << 40} {
		step := partSizeOf(size)
		if parts := (size + step - 1) / step; parts > maxParts || step < partSize {
			t.Errorf("%d bytes: %d parts of %d", size, parts, step)
		}
	}
	var total int64
	for number := 1; number <= maxParts; number++ {
		total += growingPartSize(number)
	}
	if total < 900<<30 || growingPartSize(1) != partSize {
		t.Errorf("a stream holds %d bytes", total)
	}
}

func TestByteSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "20B": 20, "1KiB": 1024, "10GiB": 10 << 30, "1.5 MB": 1_500_000, "7": 7} {
		var b byteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%q: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "much", "-1", "1XB", "9EiB", "99999999999999999999"} {
		var b byteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, b)
		}
	}
}

func TestCopiesIntoThemselvesAreFound(t *testing.T) {
	for _, c := range []struct {
		inner, outer string
		want         bool
	}{
		{"file:///a", "file:///a", true},
		{"file:///a/b", "file:///a", true},
		{"file:///ab", "file:///a", false},
		{"file:///a", "file:///a/b", false},
		{"s3://b/p/q", "s3://b/p", true},
		{"s3://b/p?endpoint=http://x", "s3://b?endpoint=http://x", true},
		{"s3://b/p?endpoint=http://x", "s3://b?endpoint=http://y", false},
		{"s3://b/p", "s3://b?endpoint=http://y", false},
	} {
		if got := lies(c.inner, c.outer); got != c.want {
			t.Errorf("%s in %s: %t", c.inner, c.outer, got)
		}
	}
}

// Whatever a URL is, it is divided or refused, and a file's path never leads out
// of its store.
func FuzzLocate(f *testing.F) {
	for _, seed := range []string{"s3://b/a%20b", "file:a/b?sync=0", "./a/../../b", "/", ".", "..", "file:..%2F..", "%zz", "s3:x", "memory:///x", "a\x00b", "./\x00", "file:#", "s3://u:p@b/x"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, raw string, object bool) {
		l, err := locate(raw, object)
		if err != nil {
			return
		}
		if strings.HasPrefix(l.store, "file:") && (l.path == ".." || strings.HasPrefix(l.path, "../") || strings.HasPrefix(l.path, "/")) {
			t.Errorf("%q lies at %q of %q", raw, l.path, l.store)
		}
		if path, err := l.object("name"); err == nil && path == "" {
			t.Errorf("%q is an object without a name", raw)
		}
	})
}
