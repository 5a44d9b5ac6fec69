package storetest

import (
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// oddPaths are valid everywhere, and were each mistaken by some store: for an
// escape, a separator, another name, or a hidden one.
var oddPaths = []objectstore.Path{
	"plain", "with space", " leading", "trailing ", "per%cent", "per%41cent", "%", "%2F", "a%2Fb",
	"plus+sign", "at@sign", "co:lon", "question?mark", "hash#sign", "amp&er=sand", "semi;colon", "dollar$",
	"quote'", `double"quote`, "back`tick", "less<than>", "pi|pe", "car^et", "br{ace}", "br[acket]", "star*",
	`back\slash`, "tilde~", "...", "..a", ".hidden", "a.", "Case", "case", "dir/.x", "dir/..y",
	"é-nfc", "e\u0301-nfd", "日本語/ファイル", "emoji-😀", "\u200b", "a/b/c/d/e/f/g/h", "CON", "nul.txt", "-dash", "--", "file:", "http:",
}

// keyPaths are valid S3 keys that are no proper paths.
var keyPaths = []objectstore.Path{
	"/leading", "trailing/", "dou//ble", "///", "a/./b", "a/../b", "..", ".", "new\nline", "tab\t", "\x01", "\x7f",
}

// refuses reports whether the store must refuse one of the keyPaths.
func (e *env) refuses(path objectstore.Path) bool {
	if plain, ok := strings.CutSuffix(string(path), "/"); ok && e.features.Folders {
		if _, err := objectstore.ParsePath(plain); err == nil {
			return false
		}
	}
	return e.features.NoKeyPaths || e.features.NoDotPaths && objectstore.CheckDots(path) != nil
}

// taken returns those of the paths that the store takes, once the others were
// refused.
func (e *env) taken(paths []objectstore.Path) []objectstore.Path {
	e.Helper()
	return slices.DeleteFunc(slices.Clone(paths), func(path objectstore.Path) bool {
		if !e.features.NoBackslash || !strings.Contains(string(path), `\`) {
			return false
		}
		_, err := e.store.Put(e.ctx(), path, objectstore.Bytes([]byte("x")), nil)
		e.wantError(err, objectstore.ErrInvalidPath)
		return true
	})
}

var pathTests = []test{
	{"odd ones are each their own object", func(e *env) {
		oddPaths := e.taken(oddPaths)
		for _, path := range oddPaths {
			e.put(path, "at "+string(path))
		}
		for _, path := range oddPaths {
			e.holds(path, "at "+string(path))
			if head, _ := e.get(path, &objectstore.GetOptions{Head: true}); head.Meta.Path != path {
				e.Errorf("%q calls itself %q", path, head.Meta.Path)
			}
		}
		want := make([]string, 0, len(oddPaths))
		for _, path := range oddPaths {
			want = append(want, string(path))
		}
		slices.Sort(want)
		if got := e.list(nil); !slices.Equal(got, want) {
			e.Fatalf("listed\n%q, want\n%q", got, want)
		}
		for _, path := range oddPaths {
			if got := e.list(&objectstore.ListOptions{Prefix: string(path)}); !slices.Contains(got, string(path)) {
				e.Errorf("prefix %q lists %q", path, got)
			}
			if err := e.store.Copy(e.ctx(), path, "copied/"+path, nil); err != nil {
				e.Errorf("copy of %q: %v", path, err)
				continue
			}
			e.holds("copied/"+path, "at "+string(path))
			if err := e.store.Delete(e.ctx(), path); err != nil {
				e.Errorf("delete of %q: %v", path, err)
			}
			e.missing(path)
		}
	}},
	{"that only S3 accepts are kept or refused", func(e *env) {
		if e.features.LooseKeyPaths {
			e.Skip("excused")
		}
		for _, path := range keyPaths {
			_, err := e.store.Put(e.ctx(), path, objectstore.Bytes([]byte("x")), nil)
			if e.refuses(path) {
				e.wantError(err, objectstore.ErrInvalidPath)
				continue
			}
			if err != nil {
				e.Fatalf("put %q: %v", path, err)
			}
			e.holds(path, "x")
		}
		got := e.list(nil)
		want := make([]string, 0, len(keyPaths))
		for _, path := range keyPaths {
			if !e.refuses(path) {
				want = append(want, string(path))
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			e.Fatalf("listed %q, want %q", got, want)
		}
	}},
	{"never lead out of the store", testEscapes},
	{"invalid ones are refused by every call", func(e *env) {
		e.put("object", "x")
		for _, path := range []objectstore.Path{
			"", "nul\x00byte", "bad\xffutf8", objectstore.Path(strings.Repeat("x", objectstore.MaxPathLength+1)),
			objectstore.Path(strings.Repeat("ab/", objectstore.MaxPathLength/3) + "xxxx"),
		} {
			_, err := e.store.Get(e.ctx(), path, nil)
			e.wantError(err, objectstore.ErrInvalidPath)
			_, err = e.store.Put(e.ctx(), path, objectstore.Bytes(nil), nil)
			e.wantError(err, objectstore.ErrInvalidPath)
			_, err = e.store.PutMultipart(e.ctx(), path, nil)
			e.wantError(err, objectstore.ErrInvalidPath)
			e.wantError(e.store.Delete(e.ctx(), path), objectstore.ErrInvalidPath)
			e.wantError(e.store.Copy(e.ctx(), path, "to", nil), objectstore.ErrInvalidPath)
			e.wantError(e.store.Copy(e.ctx(), "object", path, nil), objectstore.ErrInvalidPath)
			e.wantError(e.store.Rename(e.ctx(), "object", path, nil), objectstore.ErrInvalidPath)
		}
		if got := e.list(nil); !slices.Equal(got, []string{"object"}) {
			e.Fatalf("listed %q", got)
		}
	}},
	{"with long segments are kept up to the store's limit", func(e *env) {
		longest := objectstore.Path(strings.Repeat("s", min(e.features.MaxSegment, objectstore.MaxPathLength)))
		e.put(longest, "long")
		e.holds(longest, "long")
		if e.features.MaxSegment >= objectstore.MaxPathLength {
			return
		}
		_, err := e.store.Put(e.ctx(), longest+"s", objectstore.Bytes(nil), nil)
		e.wantError(err, objectstore.ErrInvalidPath, objectstore.ErrUnsupported)
		_, err = e.store.Put(e.ctx(), "dir/"+longest+"s/x", objectstore.Bytes(nil), nil)
		e.wantError(err, objectstore.ErrInvalidPath, objectstore.ErrUnsupported)
		if got := e.list(nil); len(got) != 1 {
			e.Fatalf("refused writes left %d objects", len(got))
		}
	}},
	{"may begin with another object's path", func(e *env) {
		e.put("a", "outer")
		_, err := e.store.Put(e.ctx(), "a/b", objectstore.Bytes([]byte("inner")), nil)
		if e.features.NoNesting {
			e.wantError(err, objectstore.ErrUnsupported, objectstore.ErrInvalidPath)
			e.holds("a", "outer")
			e.missing("a/b")
			e.put("d/e", "inner")
			_, err = e.store.Put(e.ctx(), "d", objectstore.Bytes([]byte("outer")), nil)
			e.wantError(err, objectstore.ErrUnsupported, objectstore.ErrInvalidPath)
			e.holds("d/e", "inner")
			e.missing("d")
			return
		}
		if err != nil {
			e.Fatal(err)
		}
		e.holds("a", "outer")
		e.holds("a/b", "inner")
		if err := e.store.Delete(e.ctx(), "a"); err != nil {
			e.Fatal(err)
		}
		e.holds("a/b", "inner")
	}},
}
