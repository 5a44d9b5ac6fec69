package file_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

func write(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s objectstore.Store, path objectstore.Path, data string, options *objectstore.PutOptions) string {
	t.Helper()
	result, err := s.Put(t.Context(), path, objectstore.Bytes([]byte(data)), options)
	if err != nil {
		t.Fatal(err)
	}
	return result.ETag
}

func list(t *testing.T, s objectstore.Store) []string {
	t.Helper()
	var paths []string
	for meta, err := range s.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, string(meta.Path))
	}
	return paths
}

func TestForeignTreeIsReadableAndUntouched(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/db/manifest/0001.manifest", "m")
	write(t, dir+"/db/wal/0001.sst", "wal")
	write(t, dir+"/top", "top")
	write(t, dir+"/bad\xffname", "no path")
	write(t, dir+"/new\nline", "no path")
	if err := os.MkdirAll(dir+"/empty/deeper", 0o777); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, nil)
	want := []string{"db/manifest/0001.manifest", "db/wal/0001.sst", "top"}
	if got := list(t, s); !slices.Equal(got, want) {
		t.Fatalf("listed %q, want %q", got, want)
	}
	data, meta, err := objectstore.ReadAll(t.Context(), s, "db/wal/0001.sst")
	if err != nil || string(data) != "wal" || meta.ETag == "" {
		t.Fatalf("read %q, %+v, %v", data, meta, err)
	}
	level, err := s.ListWithDelimiter(t.Context(), nil)
	if err != nil || !slices.Equal(level.CommonPrefixes, []string{"db/"}) {
		t.Fatalf("prefixes %q, %v: a directory without objects is none", level.CommonPrefixes, err)
	}
	if err := s.Delete(t.Context(), "missing/object"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/.stardust"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("reading and refused calls have made the reserved folder")
	}
	put(t, s, "db/new/object", "plain", nil)
	if got, err := os.ReadFile(dir + "/db/new/object"); err != nil || string(got) != "plain" {
		t.Fatalf("the object's file holds %q, %v", got, err)
	}
}

func TestForeignOverwriteChangesETagAndDropsAttributes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	etag := put(t, s, "object", "one", &objectstore.PutOptions{Attributes: objectstore.Attributes{ContentType: "text/x-ours"}})
	write(t, dir+"/.other", "two")
	if err := os.Rename(dir+"/.other", dir+"/object"); err != nil {
		t.Fatal(err)
	}
	result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Head: true})
	if err != nil {
		t.Fatal(err)
	}
	if result.Meta.ETag == etag || result.Attributes.ContentType != "" {
		t.Fatalf("still ETag %q and %+v", result.Meta.ETag, result.Attributes)
	}
}

func TestReservedFolderIsNoObject(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	put(t, s, "object", "x", &objectstore.PutOptions{Attributes: objectstore.Attributes{ContentType: "text/plain"}})
	if got := list(t, s); !slices.Equal(got, []string{"object"}) {
		t.Fatalf("listed %q", got)
	}
	for _, path := range []objectstore.Path{".stardust", ".stardust/locks/00", ".StarDust/x", ".stardust/meta/object"} {
		_, err := s.Get(t.Context(), path, nil)
		if !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("get %q: %v", path, err)
		}
		if _, err := s.Put(t.Context(), path, objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("put %q: %v", path, err)
		}
		if err := s.Delete(t.Context(), path); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("delete %q: %v", path, err)
		}
	}
	// Only the root's is reserved.
	put(t, s, "sub/.stardust", "ordinary", nil)
	level, err := s.ListWithDelimiter(t.Context(), &objectstore.ListOptions{Prefix: ".stardust/"})
	if err != nil || len(level.Objects)+len(level.CommonPrefixes) > 0 {
		t.Fatalf("listed %+v, %v", level, err)
	}
}

func TestLinksOutOfTheDirectoryAreNotFollowed(t *testing.T) {
	need.Ask(t, need.Symlinks)
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside+"/secret", "secret")
	write(t, dir+"/inside", "inside")
	for link, target := range map[string]string{
		"file": outside + "/secret", "dir": outside, "up": "..", "relative": "../" + filepath.Base(outside) + "/secret",
		"alias": "inside", "loop": ".", "dangling": "nothing",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir, nil)
	if got := list(t, s); !slices.Equal(got, []string{"alias", "inside"}) {
		t.Errorf("listed %q", got)
	}
	for _, path := range []objectstore.Path{"file", "dir/secret", "relative", objectstore.Path("up/" + filepath.Base(outside) + "/secret")} {
		if data, _, err := objectstore.ReadAll(t.Context(), s, path); err == nil {
			t.Errorf("read %q through %q", data, path)
		}
	}
	for _, path := range []objectstore.Path{"dir/new", "dir/sub/new", "up/new"} {
		if _, err := s.Put(t.Context(), path, objectstore.Bytes([]byte("x")), nil); err == nil {
			t.Errorf("wrote through %q", path)
		}
	}
	// A link at the path itself is replaced, or removed, as an entry.
	put(t, s, "file", "new", nil)
	if err := s.Delete(t.Context(), "relative"); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(outside + "/secret"); err != nil || string(data) != "secret" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside has %v", entries)
	}
}

func TestEmptyDirectoriesGoAndAreNotInTheWay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	put(t, s, "a/b/c/one", "1", nil)
	put(t, s, "a/two", "2", nil)
	if err := s.Delete(t.Context(), "a/b/c/one"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a/b is still there")
	}
	if err := s.Rename(t.Context(), "a/two", "x/y/two", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a is still there")
	}
	if err := os.Mkdir(dir+"/empty", 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, s, "empty", "now an object", &objectstore.PutOptions{Mode: objectstore.Create})
}

func TestBodiesAreFilesAtTheirOffset(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	put(t, s, "object", "0123456789", nil)
	result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Range: objectstore.Bounded(3, 7)})
	if err != nil {
		t.Fatal(err)
	}
	defer result.Body.Close()
	body, ok := result.Body.(objectstore.FileBody)
	if !ok {
		t.Fatalf("body is a %T", result.Body)
	}
	data := make([]byte, result.End-result.Start)
	if _, err := io.ReadFull(body.File(), data); err != nil || string(data) != "3456" {
		t.Fatalf("file yields %q, %v", data, err)
	}
	result, err = s.Get(t.Context(), "object", &objectstore.GetOptions{Range: objectstore.Bounded(3, 7)})
	if err != nil {
		t.Fatal(err)
	}
	defer result.Body.Close()
	var out strings.Builder
	if n, err := io.Copy(&out, result.Body); n != 4 || err != nil || out.String() != "3456" {
		t.Fatalf("copied %q, %v", out.String(), err)
	}
}

func TestTruncatedFileIsAnErrorNotAShortBody(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	put(t, s, "object", "0123456789", nil)
	for _, copied := range []bool{false, true} {
		result, err := s.Get(t.Context(), "object", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(dir+"/object", 4); err != nil {
			t.Fatal(err)
		}
		if copied {
			_, err = io.Copy(io.Discard, result.Body)
		} else {
			_, err = io.ReadAll(struct{ io.Reader }{result.Body})
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("copied %v: %v", copied, err)
		}
		_ = result.Body.Close()
		put(t, s, "object", "0123456789", nil)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a-file", "x")
	if _, err := file.Open(dir+"/missing", &file.Options{MustExist: true}); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	if _, err := file.Open(dir+"/a-file", nil); err == nil || !strings.Contains(err.Error(), "a-file") {
		t.Errorf("a file: %v", err)
	}
	open(t, dir+"/made/at/once", nil)
}
