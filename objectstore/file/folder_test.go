package file_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// TestAFolderIsAnObjectOfItsOwn: s3fs and "create folder" of many tools put one.
func TestAFolderIsAnObjectOfItsOwn(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	put := func(path objectstore.Path, data string) error {
		_, err := s.Put(t.Context(), path, objectstore.Bytes([]byte(data)), &objectstore.PutOptions{
			Attributes: objectstore.Attributes{Metadata: map[string]string{"at": string(path)}},
		})
		return err
	}
	for _, path := range []objectstore.Path{"a/", "a/!", "a/b/", "a/b/c", "a-", "a0", "z/y/"} {
		if err := put(path, string(path)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(o objectstore.ListOptions) (paths []string) {
		t.Helper()
		for meta, err := range s.List(t.Context(), &o) {
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, string(meta.Path))
		}
		return paths
	}
	all := []string{"a-", "a/", "a/!", "a/b/", "a/b/c", "a0", "z/y/"}
	for i := range all {
		offset := ""
		if i > 0 {
			offset = all[i-1]
		}
		if got := list(objectstore.ListOptions{Offset: offset}); !slices.Equal(got, all[i:]) {
			t.Errorf("after %q: %q", offset, got)
		}
	}
	if got := list(objectstore.ListOptions{Prefix: "a/b"}); !slices.Equal(got, []string{"a/b/", "a/b/c"}) {
		t.Errorf("by a prefix: %q", got)
	}
	result, err := s.ListWithDelimiter(t.Context(), &objectstore.ListOptions{Prefix: "a/"})
	if err != nil || len(result.Objects) != 2 || result.Objects[0].Path != "a/" || !slices.Equal(result.CommonPrefixes, []string{"a/b/"}) {
		t.Errorf("with a delimiter: %+v, %v", result, err)
	}
	if result, err = s.ListWithDelimiter(t.Context(), nil); err != nil || !slices.Equal(result.CommonPrefixes, []string{"a/", "z/"}) {
		t.Errorf("an empty folder shows as a prefix: %+v, %v", result, err)
	}
	// The folder stays when what is in it goes, and goes itself like any object.
	for _, path := range []objectstore.Path{"a/b/c", "a/!"} {
		if err := s.Delete(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Get(t.Context(), "a/b/", nil)
	if err != nil || got.Meta.Path != "a/b/" || got.Attributes.Metadata["at"] != "a/b/" {
		t.Fatalf("%+v, %v", got, err)
	}
	_ = got.Body.Close()
	if err := s.Copy(t.Context(), "a/b/", "copied/", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(t.Context(), "a/b/", "renamed/deep/", nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []objectstore.Path{"a/", "a-", "a0", "z/y/"} {
		if err := s.Delete(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(objectstore.ListOptions{}); !slices.Equal(got, []string{"copied/", "renamed/deep/"}) {
		t.Errorf("at the end: %q", got)
	}
	// What a file cannot be is refused.
	for _, path := range []objectstore.Path{"/", "a//", "x/.stardust-folder", ".stardust/", "../"} {
		if err := put(path, ""); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("%q: %v, want ErrInvalidPath", path, err)
		}
	}
	if err := put("file", ""); err != nil {
		t.Fatal(err)
	}
	if err := put("file/", ""); !errors.Is(err, objectstore.ErrUnsupported) && !errors.Is(err, objectstore.ErrInvalidPath) {
		t.Errorf("a folder of a file's name: %v", err)
	}
}
