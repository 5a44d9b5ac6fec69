//go:build linux

package storemount

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/logtest"
	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// mounted mounts a store for one test.
func mounted(t *testing.T, store objectstore.Store, options *Options) string {
	t.Helper()
	need.Ask(t, need.FUSE)
	dir := t.TempDir()
	m, err := New(store, dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// sh runs a script in a directory, which must succeed, and returns what it prints.
func sh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func TestKeysArePaths(t *testing.T) {
	store := storeOf(t, "a", "a/b", "c/d/e", "c/empty/", "f", "g//h", "./i", strings.Repeat("n", 300))
	var log logtest.Log
	dir := mounted(t, store, &Options{Log: log.Logger(nil)})
	if got, want := sh(t, dir, "find . | LC_ALL=C sort; cat a/b c/d/e f; stat -c '%a %s %F' f a; test ! -e g/h"),
		".\n./a\n./a/b\n./c\n./c/d\n./c/d/e\n./c/empty\n./f\n./g\na/bc/d/ef444 1 regular file\n555 0 directory\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, left := range []string{`key=a why="a directory has its name"`, `key=g// why="an empty segment"`, `key=./ why="the segment ."`, `nnn why="a segment of more than 255 bytes"`} {
		if !strings.Contains(log.String(), left) {
			t.Errorf("the log doesn't say %s:\n%s", left, log.String())
		}
	}
}

// Every call that programs make by name gets the errno that they expect.
func TestOddCallsGetTheRightErrors(t *testing.T) {
	dir := mounted(t, storeOf(t, "a", "d/b"), nil)
	at := func(name string) string { return filepath.Join(dir, name) }
	for what, c := range map[string]struct{ got, want error }{
		"a name of 256 bytes": {syscall.Access(at(strings.Repeat("n", 256)), 0), syscall.ENAMETOOLONG},
		"no UTF-8":            {syscall.Access(at("\xff"), 0), syscall.ENOENT},
		"missing":             {syscall.Access(at("x"), 0), syscall.ENOENT},
		"beneath a file":      {syscall.Access(at("a/x"), 0), syscall.ENOTDIR},
		"mkdir":               {syscall.Mkdir(at("x"), 0o755), syscall.EROFS},
		"unlink":              {syscall.Unlink(at("a")), syscall.EROFS},
		"rmdir":               {syscall.Rmdir(at("d")), syscall.EROFS},
		"rename":              {syscall.Rename(at("a"), at("c")), syscall.EROFS},
		"chmod":               {syscall.Chmod(at("a"), 0o600), syscall.EROFS},
		"truncate":            {syscall.Truncate(at("a"), 0), syscall.EROFS},
		"link":                {syscall.Link(at("a"), at("l")), syscall.EROFS},
		"readlink":            {second(syscall.Readlink(at("a"), make([]byte, 8))), syscall.EINVAL},
		"open for writing":    {second(syscall.Open(at("a"), syscall.O_WRONLY, 0)), syscall.EROFS},
		"create":              {second(syscall.Open(at("x"), syscall.O_CREAT|syscall.O_RDWR, 0o600)), syscall.EROFS},
		"a directory as file": {second(syscall.Open(at("d"), syscall.O_RDWR, 0)), syscall.EISDIR},
		"getxattr":            {second(syscall.Getxattr(at("a"), "user.a", nil)), syscall.EOPNOTSUPP},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
}

func second(_ int, err error) error { return err }

// counted is a store that counts requests, and can be made to fail.
type counted struct {
	objectstore.Store
	gets, lists atomic.Int64
	fail        atomic.Bool
}

func (c *counted) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	c.gets.Add(1)
	if c.fail.Load() {
		return nil, &objectstore.Error{Op: objectstore.OpGet, Path: string(path), Err: objectstore.ErrPermissionDenied}
	}
	return c.Store.Get(ctx, path, options)
}

func (c *counted) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	c.lists.Add(1)
	return c.Store.List(ctx, options)
}

// openMirror opens a mirror of a store that ends with the test.
func openMirror(t *testing.T, store objectstore.Store, policy mirror.Policy) *mirror.Mirror {
	t.Helper()
	m, err := mirror.Open(t.Context(), t.TempDir(), store, policy, &mirror.Options{WithoutRemoteScan: true, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// A listed directory is read without asking for each object, and each content is
// downloaded once.
func TestAMirrorIsAskedForEachObjectOnce(t *testing.T) {
	need.Ask(t, need.FUSE)
	var keys []string
	for i := range 200 {
		keys = append(keys, fmt.Sprintf("d/%03d", i))
	}
	store := &counted{Store: storeOf(t, keys...)}
	m := openMirror(t, store, &mirror.KeepAll{WithoutWarming: true})
	dir := mounted(t, m, &Options{Refresh: time.Hour})
	if got := sh(t, dir, "ls -l d | wc -l; cat d/* | wc -c"); got != "201\n1000\n" {
		t.Errorf("got %q", got)
	}
	if gets := store.gets.Load(); gets > 220 {
		t.Errorf("%d requests for 200 objects", gets)
	}
	if lists := store.lists.Load(); lists > 6 {
		t.Errorf("%d lists", lists)
	}
	before := store.gets.Load() + store.lists.Load()
	sh(t, dir, "cat d/* >/dev/null; stat d/* >/dev/null")
	if n := store.gets.Load() + store.lists.Load() - before; n > 2 { // the shell lists again
		t.Errorf("%d requests for what is local", n)
	}
	store.fail.Store(true)
	if got := sh(t, dir, "cat d/007"); got != "d/007" {
		t.Errorf("without the remote: %q", got)
	}
}

// An LRU is bounded, and what doesn't fit is read in ranges.
func TestWhatAnLRUCannotKeepIsReadAllTheSame(t *testing.T) {
	need.Ask(t, need.FUSE)
	store := memory.New(nil)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for i := range 9 {
		if _, err := store.Put(t.Context(), objectstore.Path(fmt.Sprint(i)), objectstore.Bytes(content[:len(content)>>(i%3)]), nil); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := mirror.NewLRU(600_000)
	if err != nil {
		t.Fatal(err)
	}
	m := openMirror(t, store, policy)
	dir := mounted(t, m, nil)
	for range 2 {
		if got := sh(t, dir, "cat 0 1 2 3 4 5 6 7 8 | wc -c; tail -c 5 3; head -c 700000 6 | tail -c 4 | tr -d '\n'"); got != fmt.Sprint(len(content)*7/4*3)+"\nbcdefcdef" {
			t.Errorf("got %q", got)
		}
	}
	if bytes := m.Handle().Stats().Bytes; bytes > 600_000 {
		t.Errorf("%d bytes local", bytes)
	}
}

// Programs that read while an object is replaced get one version or an error.
func TestAReplacedObjectIsNeverMixed(t *testing.T) {
	store := memory.New(nil)
	versions := [][]byte{bytes.Repeat([]byte("a"), 3<<20), bytes.Repeat([]byte("b"), 3<<20), bytes.Repeat([]byte("c"), 1<<20+1)}
	put := func(i int) {
		if _, err := store.Put(t.Context(), "x", objectstore.Bytes(versions[i]), nil); err != nil {
			t.Error(err)
		}
	}
	put(0)
	dir := mounted(t, &streams{Store: store}, &Options{Refresh: time.Millisecond})
	done := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				put(i % 3)
			}
		}
	})
	seen := 0
	for range 20 {
		got, err := os.ReadFile(filepath.Join(dir, "x"))
		if err != nil {
			continue // the version is gone
		}
		seen++
		if len(got) == 0 || len(bytes.Trim(got, string(got[:1]))) > 0 {
			t.Fatalf("%d bytes of several versions", len(got))
		}
	}
	close(done)
	writer.Wait()
	put(2)
	var got []byte
	for range 1000 { // until what is known is a millisecond old
		if got, _ = os.ReadFile(filepath.Join(dir, "x")); bytes.Equal(got, versions[2]) {
			break
		}
	}
	if !bytes.Equal(got, versions[2]) {
		t.Errorf("in the end %d bytes", len(got))
	}
	t.Logf("%d of 20 reads were of one version, the others failed", seen)
}

// A size that a list told long ago doesn't cut what a program reads.
func TestAnOpenedObjectHasItsOwnSize(t *testing.T) {
	store := storeOf(t, "x")
	dir := mounted(t, store, &Options{Refresh: time.Hour})
	sh(t, dir, "ls -l; cat x")
	for _, content := range []string{"longer than before", "short"} {
		if _, err := store.Put(t.Context(), "x", objectstore.Bytes([]byte(content)), nil); err != nil {
			t.Fatal(err)
		}
		if got := sh(t, dir, "cat x"); got != content {
			t.Errorf("got %q, want %q", got, content)
		}
	}
}

func TestALargeDirectoryIsListedWhole(t *testing.T) {
	var keys []string
	for i := range 2000 {
		keys = append(keys, fmt.Sprintf("d/object-with-a-name-%05d", i))
		if i%3 == 0 {
			keys = append(keys, fmt.Sprintf("d/object-with-a-name-%05d/x", i))
		}
	}
	dir := mounted(t, storeOf(t, keys...), nil)
	if got := sh(t, dir, "ls -f d | grep -v '^\\.' | sort | uniq | wc -l; ls d | wc -l; find d -type d | wc -l; find d -type f | wc -l"); got != "2000\n2000\n668\n2000\n" {
		t.Errorf("got %q", got)
	}
}

func TestFailuresOfTheStoreReachPrograms(t *testing.T) {
	store := &counted{Store: storeOf(t, "a", "b")}
	var log logtest.Log
	dir := mounted(t, store, &Options{Log: log.Logger(nil)})
	sh(t, dir, "ls")
	store.fail.Store(true)
	if _, err := os.ReadFile(filepath.Join(dir, "a")); !strings.Contains(fmt.Sprint(err), "permission denied") {
		t.Errorf("got %v", err)
	}
	store.fail.Store(false)
	if err := store.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "b")); !os.IsNotExist(err) {
		t.Errorf("a deleted object: %v", err)
	}
	if got := sh(t, dir, "cat a"); got != "a" || !strings.Contains(log.String(), "permission denied") {
		t.Errorf("got %q, and in the log %s", got, log.String())
	}
}

func TestAFileStoreIsMounted(t *testing.T) {
	need.Ask(t, need.FUSE)
	store, err := file.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "d/a", objectstore.Bytes([]byte("content")), nil); err != nil {
		t.Fatal(err)
	}
	dir := mounted(t, openMirror(t, store, &mirror.KeepAll{}), nil)
	if got := sh(t, dir, "cat d/a; df . >/dev/null; tar cf - . | tar tf - | wc -l"); got != "content3\n" {
		t.Errorf("got %q", got)
	}
}

func TestWhatCannotBeMountedOnIsRefused(t *testing.T) {
	need.Ask(t, need.FUSE)
	store := storeOf(t, "a")
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{plain, plain + "-missing"} {
		if _, err := New(store, dir, nil); err == nil {
			t.Errorf("%s was mounted on", dir)
		}
	}
}
