package stardust_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stardustdb/stardust"
)

// writeFiles writes files by their paths in a directory.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheDatabaseNeverStoresItself imports a directory that holds the database,
// its log and hard links to both, and uploads it by its file.
func TestTheDatabaseNeverStoresItself(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	db := openAt(t, path, withObjects())
	create(t, db, `[{name made}]`) // so that there is a log
	writeFiles(t, dir, map[string]string{"other": "other"})
	own := 0
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			continue
		}
		own += 2
		if !db.Owns(info) {
			t.Errorf("%s is not known as the database's own", path+suffix)
		}
		if err := os.Link(path+suffix, filepath.Join(dir, "link"+suffix)); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	report, err := db.Tree().Import(t.Context(), os.DirFS(dir), 0, nil)
	if err != nil || report.Created != 1 || report.Skipped != int64(own) || report.Failed != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	file, err := os.Open(filepath.Join(dir, "link"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	stream, err := db.Objects().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if n, err := stream.ReadFrom(file); n != 0 || statusOf(err) != stardust.StatusInvalidArgument {
		t.Errorf("an upload of the database itself read %d bytes: %v", n, err)
	}
}

// TestFailuresComeBeforeSkips has far more links than a report lists, and a file
// that fails.
func TestFailuresComeBeforeSkips(t *testing.T) {
	dir := t.TempDir()
	for i := range 1200 {
		if err := os.Symlink("x", filepath.Join(dir, fmt.Sprintf("link%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, map[string]string{"zz\xff": "x"})
	db := open(t)
	report, err := db.Tree().Import(t.Context(), struct{ fs.FS }{os.DirFS(dir)}, 0, nil)
	if err != nil || report.Skipped != 1200 || report.Failed != 1 || len(report.Problems) != 1001 {
		t.Fatalf("%d skipped, %d failed, %d listed, %v", report.Skipped, report.Failed, len(report.Problems), err)
	}
	if first := report.Problems[0]; first.Skipped || first.Path != "zz\xff" {
		t.Errorf("the first problem is %+v", first)
	}
}

// growing is a directory whose files grow by a line at the end of each read, so
// many times.
type growing struct {
	dir   string
	times *int
}

func (g growing) Open(name string) (fs.File, error) {
	f, err := os.DirFS(g.dir).Open(name)
	if err != nil || name == "." {
		return f, err
	}
	return &growingFile{f.(*os.File), g, name}, nil
}

type growingFile struct {
	*os.File
	g    growing
	name string
}

func (f *growingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if n > 0 || *f.g.times == 0 {
		return n, err
	}
	*f.g.times--
	log, failed := os.OpenFile(filepath.Join(f.g.dir, f.name), os.O_WRONLY|os.O_APPEND, 0)
	if failed == nil {
		_, failed = log.WriteString("line\n")
		failed = firstOf(failed, log.Close())
	}
	return n, firstOf(failed, err)
}

func (f *growingFile) ReadDir(n int) ([]fs.DirEntry, error) { return f.File.ReadDir(n) }

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TestAFileThatChangesWhileItIsReadIsReadAgain has one that stands still at the
// second look, and one that never does.
func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	for _, test := range []struct {
		times  int
		want   int // lines
		failed int64
	}{{1, 2, 0}, {100, 3, 1}} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"log": "line\n"})
		db := open(t)
		report, err := db.Tree().Import(t.Context(), growing{dir, &test.times}, 0, nil)
		if err != nil || report.Created != 1 || report.Failed != test.failed {
			t.Errorf("%+v, %v", report, err)
		}
		got, err := fs.ReadFile(db.Tree().FS(), "log")
		if err != nil || !bytes.Equal(got, []byte(strings.Repeat("line\n", test.want))) {
			t.Errorf("stored %q, %v; want %d lines", got, err, test.want)
		}
	}
}

// TestWhatCameBeforeACancellationStays cancels an import in the middle of its
// second file.
func TestWhatCameBeforeACancellationStays(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	from := fstest.MapFS{"a": {Data: []byte("first")}, "b": {Data: randomBytes(4, 20<<20)}}
	report, err := db.Tree().Import(ctx, from, 0, &stardust.ImportOptions{
		Workers:  1,
		Progress: func(p stardust.Progress) { cancelAfter(cancel, p.Bytes > 5<<20) },
	})
	if statusOf(err) != stardust.StatusCanceled || report.Created != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if got, err := fs.ReadFile(db.Tree().FS(), "a"); err != nil || string(got) != "first" {
		t.Errorf("the first file is %q, %v", got, err)
	}
}

func cancelAfter(cancel func(), enough bool) {
	if enough {
		cancel()
	}
}

// TestAListingBeginsAfterAName reads from the middle of a directory on.
func TestAListingBeginsAfterAName(t *testing.T) {
	db := open(t)
	from := make(fstest.MapFS)
	for i := range 2500 {
		from[fmt.Sprintf("f%04d", i)] = &fstest.MapFile{}
	}
	if _, err := db.Tree().Import(t.Context(), from, 0, nil); err != nil {
		t.Fatal(err)
	}
	next := 1001
	for r, err := range db.Tree().ChildrenAfter(0, "f1000") {
		if want := fmt.Sprintf("f%04d", next); err != nil || r.Name != want {
			t.Fatalf("got %s, %v; want %s", r.Name, err, want)
		}
		next++
	}
	if next != 2500 {
		t.Errorf("the listing ended before %d", next)
	}
}

// TestPermissionsAndTimesComeBack imports a directory and exports it elsewhere.
func TestPermissionsAndTimesComeBack(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"secret": "key", "bin/run": "#!/bin/sh"})
	when := time.Date(2001, 2, 3, 4, 5, 6, 123456789, time.UTC)
	modes := map[string]fs.FileMode{"secret": 0o600, "bin/run": 0o755, "bin": 0o700}
	for name, mode := range modes {
		path := filepath.Join(dir, name)
		if err := firstOf(os.Chmod(path, mode), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t)
	if _, err := db.Tree().Import(t.Context(), os.DirFS(dir), 0, nil); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := db.Tree().Export(t.Context(), 0, to, nil); err != nil {
		t.Fatal(err)
	}
	for name, mode := range modes {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != mode || !info.ModTime().Equal(when) {
			t.Errorf("%s: %v, %v", name, info.Mode(), info.ModTime())
		}
	}
	// Run again, nothing has changed and no revision is made.
	before, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	report, err := db.Tree().Import(t.Context(), os.DirFS(to), 0, nil)
	after, failed := db.Snapshot()
	if err != nil || failed != nil || report.Unchanged != 2 || after.Revision() != before.Revision() {
		t.Errorf("%+v, revision %d after %d, %v", report, after.Revision(), before.Revision(), err)
	}
	// Permissions that change are a change.
	if err := os.Chmod(filepath.Join(dir, "secret"), 0o400); err != nil {
		t.Fatal(err)
	}
	report, err = db.Tree().Import(t.Context(), os.DirFS(dir), 0, nil)
	if err != nil || report.Updated != 1 || report.Unchanged != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
