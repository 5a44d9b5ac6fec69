package local

import (
	"crypto/md5"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestClassifyKnowsOurNamesAndNoOthers(t *testing.T) {
	const prefix = "754128269b532c9827ffa09d3afb6118"
	for name, want := range map[string]struct {
		kind    FileKind
		of      FileName
		counter uint64
	}{
		"LOCK":                                   {},
		"INDEX":                                  {},
		prefix:                                   {},
		prefix + ".":                             {},
		prefix + ".x":                            {},
		prefix + ".obj":                          {},
		prefix + ".x.obj":                        {kind: ObjectFile, of: prefix + ".x.obj"},
		prefix + ".x.obj.obj":                    {kind: ObjectFile, of: prefix + ".x.obj.obj"},
		prefix + ".x.obj.meta":                   {kind: MetaFile, of: prefix + ".x.obj"},
		prefix + ".x.obj.meta.obj":               {kind: ObjectFile, of: prefix + ".x.obj.meta.obj"},
		prefix + ".x.meta":                       {},
		prefix + ".x.obj.12":                     {kind: tempFile, counter: 12},
		prefix + ".x.obj.meta.13":                {kind: tempFile, counter: 13},
		prefix + ".x.obj.":                       {},
		prefix + ".x.obj.1x":                     {},
		prefix + ".x.obj.-1":                     {},
		prefix + ".x.obj.99999999999999999999":   {},
		"754128269B532c9827ffa09d3afb6118.x.obj": {},
		prefix[1:] + ".x.obj":                    {},
		prefix + "0.x.obj":                       {},
	} {
		kind, of, counter := Classify(name)
		if kind != want.kind || of != want.of || counter != want.counter {
			t.Errorf("%q: %d, %q, %d", name, kind, of, counter)
		}
	}
}

func TestConflictingPrefixIsRejectedAndFreedByTheLastClaim(t *testing.T) {
	l := newLayout()
	l.sum = func(string) (sum [md5.Size]byte) { return sum } // every parent collides
	_, form, err := l.claim("a/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.claim("b/x"); err == nil || !strings.Contains(err.Error(), "MD5 prefix") {
		t.Errorf("second parent: %v", err)
	}
	if _, err := l.adopt("b/y", plainName(strings.Repeat("0", 32), "y")); err == nil {
		t.Error("a conflicting file was adopted")
	}
	if _, _, err := l.claim("a/y"); err != nil {
		t.Errorf("same parent: %v", err)
	}
	l.release("a/x", form)
	l.release("a/y", false)
	if _, _, err := l.claim("b/x"); err != nil {
		t.Errorf("after the releases: %v", err)
	}
}

func TestClaimsAreCountedAndReleased(t *testing.T) {
	l := newLayout()
	for range 3 {
		if _, hashed, err := l.claim("a/Name"); hashed || err != nil {
			t.Fatal(hashed, err)
		}
	}
	if _, hashed, _ := l.claim("a/name"); !hashed {
		t.Error("a twin got a plain name")
	}
	l.release("a/name", true)
	l.release("a/Name", false)
	l.release("a/Name", false)
	if _, hashed, _ := l.claim("a/name"); !hashed {
		t.Error("a twin got a plain name while one claim was left")
	}
	l.release("a/name", true)
	l.release("a/Name", false)
	if len(l.byPath)+len(l.byPrefix)+len(l.folded) != 0 {
		t.Errorf("left: %v %v %v", l.byPath, l.byPrefix, l.folded)
	}
}

func TestObjectNamedLikeAHashedOneGetsAHashedName(t *testing.T) {
	l := newLayout()
	hashed := hashedName(l.prefix("a"), "a/\x01")
	base := strings.TrimSuffix(string(hashed[prefixLength+1:]), objectSuffix)
	for _, path := range []objectstore.Path{objectstore.Path("a/" + base), objectstore.Path("a/" + strings.ToUpper(base))} {
		name, isHashed, err := l.claim(path)
		if err != nil || !isHashed || name == hashed {
			t.Errorf("%q: %q, %v, %v", path, name, isHashed, err)
		}
	}
}

func TestPathOfPlainNames(t *testing.T) {
	l := newLayout()
	for _, path := range []objectstore.Path{"x", "a/x", "a/b/c.meta", "a/7"} {
		name, _, err := l.claim(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := l.PathOf(name); !ok || got != path {
			t.Errorf("%q: %q, %v", name, got, ok)
		}
	}
	name, _, _ := l.claim("a//x")
	if got, ok := l.PathOf(name); ok {
		t.Errorf("a hashed name gave %q", got)
	}
	if got, ok := l.PathOf(FileName(strings.Repeat("0", 32) + ".x.obj")); ok {
		t.Errorf("an unknown prefix gave %q", got)
	}
}

func FuzzEveryPathHasAValidNameOfItsOwn(f *testing.F) {
	for _, s := range []string{"a/x", "a/X", "", "a//b", "a/é", "A/x", strings.Repeat("n", 300), "a/sha256-0"} {
		f.Add(s, s+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		l := newLayout()
		names := map[string]objectstore.Path{}
		for _, path := range []objectstore.Path{objectstore.Path(a), objectstore.Path(b), objectstore.Path(strings.ToUpper(a)), objectstore.Path(strings.ToLower(a))} {
			name, hashed, err := l.claim(path)
			if err != nil {
				continue
			}
			if kind, of, _ := Classify(name.object()); kind != ObjectFile || of != name {
				t.Errorf("%q: %q is kind %d", path, name, kind)
			}
			if longest := name.metaTemp(1<<64 - 1); len(longest) > maxName {
				t.Errorf("%q: %q has %d bytes", path, longest, len(longest))
			}
			if other, ok := names[strings.ToLower(string(name))]; ok && other != path {
				t.Errorf("%q and %q share %q", path, other, name)
			}
			names[strings.ToLower(string(name))] = path
			if got := l.Name(path, hashed); got != name {
				t.Errorf("%q: named %q, then %q", path, name, got)
			}
			if got, ok := l.PathOf(name); ok && got != path {
				t.Errorf("%q: %q is of %q", path, name, got)
			}
		}
	})
}
