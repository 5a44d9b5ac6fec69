package file_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

func TestEverythingSurvivesAReopen(t *testing.T) {
	dir := t.TempDir()
	attributes := objectstore.Attributes{ContentType: "text/plain", Metadata: map[string]string{"key": "value"}}
	tags := map[string]string{"tag": "value"}
	s, err := file.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	etag := put(t, s, "object", "x", &objectstore.PutOptions{Attributes: attributes, Tags: tags})
	id, err := s.CreateMultipart(t.Context(), "big", &objectstore.MultipartOptions{Attributes: attributes, Tags: tags})
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.UploadPart(t.Context(), "big", id, 1, objectstore.Bytes([]byte("one")))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open(t, dir, nil)
	result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Head: true})
	if err != nil || result.Meta.ETag != etag || !reflect.DeepEqual(result.Attributes, attributes) {
		t.Fatalf("object is %+v, %v, want ETag %q", result, err, etag)
	}
	if got, err := s.Tags(t.Context(), "object"); err != nil || !maps.Equal(got, tags) {
		t.Fatalf("tags are %v, %v", got, err)
	}
	for got, err := range s.ListParts(t.Context(), "big", id) {
		if err != nil || got.ETag != part.ETag {
			t.Fatalf("part is %+v, %v", got, err)
		}
	}
	two, err := s.UploadPart(t.Context(), "big", id, 2, objectstore.Bytes([]byte("two")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CompleteMultipart(t.Context(), "big", id, []objectstore.Part{part, two}, nil); err != nil {
		t.Fatal(err)
	}
	result, err = s.Get(t.Context(), "big", &objectstore.GetOptions{Head: true})
	if err != nil || result.Meta.Size != 6 || !reflect.DeepEqual(result.Attributes, attributes) {
		t.Fatalf("upload made %+v, %v", result, err)
	}
}

func TestETagsAreNeverUsedTwice(t *testing.T) {
	s := open(t, t.TempDir(), &file.Options{NoSync: true, Now: func() time.Time { return time.Unix(1, 0) }})
	seen := map[string]bool{}
	for i := range 1000 {
		// Of one size, at one time, on inodes that the file system reuses.
		etag := put(t, s, "object", "same", nil)
		if seen[etag] {
			t.Fatalf("write %d has ETag %q again", i, etag)
		}
		seen[etag] = true
	}
}

func TestFailedWritesLeaveNoFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	put(t, s, "object", "x", &objectstore.PutOptions{Attributes: objectstore.Attributes{ContentType: "a/b"}})
	before := tree(t, dir)
	for _, err := range []error{
		func() error {
			_, err := s.Put(t.Context(), "new/dir/object", objectstore.Stream(strings.NewReader("short"), 10), nil)
			return err
		}(),
		func() error {
			_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("y")), &objectstore.PutOptions{
				Mode: objectstore.Create, Attributes: objectstore.Attributes{ContentType: "c/d"},
			})
			return err
		}(),
		func() error {
			_, err := s.Put(t.Context(), "object/below", objectstore.Bytes([]byte("y")), &objectstore.PutOptions{
				Attributes: objectstore.Attributes{ContentType: "c/d"},
			})
			return err
		}(),
		s.Copy(t.Context(), "object", "object/below", nil),
		s.Rename(t.Context(), "object", "object/below", nil),
	} {
		if err == nil {
			t.Error("a write succeeded that must not")
		}
	}
	if after := tree(t, dir); !maps.Equal(before, after) {
		t.Errorf("files were\n%v\nare\n%v", before, after)
	}
}

// tree returns all files with their sizes, but for locks, which stay.
func tree(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && !strings.Contains(name, "/.stardust/locks/") {
			files[strings.TrimPrefix(name, dir)] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestOnlyOldTemporaryFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old", "young", "ended-upload/part-1"} {
		write(t, dir+"/.stardust/tmp/"+name, "x")
	}
	long := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"old", "ended-upload"} {
		if err := os.Chtimes(dir+"/.stardust/tmp/"+name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, nil)
	entries, err := os.ReadDir(dir + "/.stardust/tmp")
	if err != nil || len(entries) != 1 || entries[0].Name() != "young" {
		t.Fatalf("left %v, %v", entries, err)
	}
}

func TestDamagedAttributesAreAnErrorUntilRewritten(t *testing.T) {
	for _, damage := range []string{"", "{", `{"path":"other","versions":[]}`, "\x00\x00\x00\x00"} {
		dir := t.TempDir()
		s := open(t, dir, nil)
		options := &objectstore.PutOptions{Attributes: objectstore.Attributes{ContentType: "text/plain"}}
		put(t, s, "object", "x", options)
		names, err := filepath.Glob(dir + "/.stardust/meta/*/*.json")
		if err != nil || len(names) != 1 {
			t.Fatalf("found %v, %v", names, err)
		}
		write(t, names[0], damage)
		_, err = s.Get(t.Context(), "object", nil)
		if err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Fatalf("with %q: %v", damage, err)
		}
		put(t, s, "object", "y", options)
		if result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Head: true}); err != nil || result.Attributes.ContentType != "text/plain" {
			t.Fatalf("after a rewrite: %+v, %v", result, err)
		}
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s, err := file.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "object", "data", nil)
	result, err := s.Get(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, objectstore.ErrClosed) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrClosed) {
		t.Errorf("put: %v", err)
	}
	if err := s.Delete(t.Context(), "object"); !errors.Is(err, objectstore.ErrClosed) {
		t.Errorf("delete: %v", err)
	}
	for _, err := range s.List(t.Context(), nil) {
		if !errors.Is(err, objectstore.ErrClosed) {
			t.Errorf("list: %v", err)
		}
	}
	data := make([]byte, 4)
	if n, err := result.Body.Read(data); n != 4 || err != nil {
		t.Errorf("a body read after close: %d, %v", n, err)
	}
	_ = result.Body.Close()
}

func TestReadOnlyDirectoryIsReadable(t *testing.T) {
	need.Ask(t, need.Ordinary)
	dir := t.TempDir()
	write(t, dir+"/object", "x")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o777) })
	s := open(t, dir, nil)
	if data, _, err := objectstore.ReadAll(t.Context(), s, "object"); err != nil || string(data) != "x" {
		t.Fatalf("read %q, %v", data, err)
	}
	if _, err := s.Put(t.Context(), "new", objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrPermissionDenied) {
		t.Fatalf("put: %v", err)
	}
}
