package objectstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestPathsAreValidatedByTheRules(t *testing.T) {
	for text, valid := range map[string]struct{ path, key bool }{
		"a": {true, true}, "a/b/c": {true, true}, "é/日本/😀": {true, true}, "...": {true, true}, ".hidden": {true, true}, "a b%41": {true, true},
		strings.Repeat("x", 1024): {true, true}, "\u0085": {true, true},
		"": {}, strings.Repeat("x", 1025): {}, "a\xff": {}, "a\x00b": {}, "\xc0\x80": {},
		"/a": {false, true}, "a/": {false, true}, "a//b": {false, true}, "/": {false, true}, ".": {false, true}, "..": {false, true},
		"a/../b": {false, true}, "a/./b": {false, true}, "a\nb": {false, true}, "\x7f": {false, true}, "a/\x1f": {false, true},
	} {
		for _, c := range []struct {
			parse func(string) (objectstore.Path, error)
			want  bool
		}{{objectstore.ParsePath, valid.path}, {objectstore.KeyPath, valid.key}} {
			path, err := c.parse(text)
			if c.want != (err == nil) || err == nil && string(path) != text || err != nil && (path != "" || !errors.Is(err, objectstore.ErrInvalidPath)) {
				t.Errorf("%.30q: %q, %v, want valid %v", text, path, err, c.want)
			}
		}
	}
}

func TestPathsTakeApartAndJoin(t *testing.T) {
	for _, c := range []struct{ path, parent, base string }{{"a", "", "a"}, {"a/b", "a", "b"}, {"a/b/c.sst", "a/b", "c.sst"}} {
		path := objectstore.Path(c.path)
		if path.Parent() != c.parent || path.Base() != c.base || path.String() != c.path {
			t.Errorf("%q is %q and %q", c.path, path.Parent(), path.Base())
		}
		if joined, err := objectstore.Path(c.parent).Join(c.base); err != nil || joined != path {
			t.Errorf("joined %q, %v", joined, err)
		}
	}
	for _, bad := range []string{"", "..", "a//b", "/a", strings.Repeat("x", 1023)} {
		if path, err := objectstore.Path("dir").Join(bad); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("joined %q, %v", path, err)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"a", "a/b", "", "/", "a//b", "..", "a/..", "\x00", "\xff", "é", strings.Repeat("a/", 600)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := objectstore.ParsePath(text)
		if err != nil {
			if path != "" || !errors.Is(err, objectstore.ErrInvalidPath) {
				t.Fatalf("%q: %q, %v", text, path, err)
			}
			return
		}
		if string(path) != text {
			t.Fatalf("%q became %q", text, path)
		}
		if _, err := objectstore.KeyPath(text); err != nil {
			t.Fatalf("%q is a path but no key: %v", text, err)
		}
		// Taken apart and joined it is the same, and every part is valid.
		if parent := path.Parent(); parent != "" {
			if _, err := objectstore.ParsePath(parent); err != nil {
				t.Fatal(err)
			}
		}
		if joined, err := objectstore.Path(path.Parent()).Join(path.Base()); err != nil || joined != path {
			t.Fatalf("%q joined is %q, %v", text, joined, err)
		}
	})
}
