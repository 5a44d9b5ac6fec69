package objectstore_test

import (
	"errors"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestETagsMatchLists(t *testing.T) {
	for _, c := range []struct {
		list, etag string
		want       bool
	}{
		{"a", "a", true},
		{`"a"`, "a", true},
		{"a", `"a"`, true},
		{`W/"a"`, "a", true},
		{`"x", "a"`, "a", true},
		{"x,a", "a", true},
		{"*", "a", true},
		{" * ", "a", true},
		{"*", "", true},
		{"ab", "a", false},
		{"", "a", false},
		{"", "", false},
		{"a", "", false},
		{`"`, "a", false},
	} {
		if got := objectstore.MatchETag(c.list, c.etag); got != c.want {
			t.Errorf("%q in %q: %v", c.etag, c.list, got)
		}
	}
}

func TestModesCheckWhatIsThere(t *testing.T) {
	here := &objectstore.ObjectMeta{ETag: "e", Version: "v"}
	version := func(etag, version string) objectstore.UpdateVersion {
		return objectstore.UpdateVersion{ETag: etag, Version: version}
	}
	for _, c := range []struct {
		mode    objectstore.PutMode
		update  objectstore.UpdateVersion
		current *objectstore.ObjectMeta
		want    error
	}{
		{objectstore.Overwrite, version("", ""), nil, nil},
		{objectstore.Overwrite, version("", ""), here, nil},
		{objectstore.Create, version("", ""), nil, nil},
		{objectstore.Create, version("", ""), here, objectstore.ErrAlreadyExists},
		{objectstore.Update, version("e", ""), here, nil},
		{objectstore.Update, version(`"e"`, ""), here, nil},
		{objectstore.Update, version("e", "v"), here, nil},
		{objectstore.Update, version("", "v"), here, nil},
		{objectstore.Update, version("e", "w"), here, objectstore.ErrPrecondition},
		{objectstore.Update, version("f", ""), here, objectstore.ErrPrecondition},
		{objectstore.Update, version("e", ""), nil, objectstore.ErrPrecondition},
		{objectstore.Update, version("", ""), here, objectstore.ErrInvalidOption},
		{objectstore.PutMode(7), version("", ""), here, objectstore.ErrInvalidOption},
	} {
		if err := c.mode.Check(c.update, c.current); !errors.Is(err, c.want) {
			t.Errorf("%v %+v over %+v: %v, want %v", c.mode, c.update, c.current, err, c.want)
		}
	}
}

func TestExtensionsAreImmutableAndByType(t *testing.T) {
	type tag string
	type other string
	var none objectstore.Extensions
	first := objectstore.WithExtension(none, tag("one"))
	second := objectstore.WithExtension(objectstore.WithExtension(first, other("x")), tag("two"))
	for name, c := range map[string]struct {
		in   objectstore.Extensions
		want tag
		ok   bool
	}{"none": {none, "", false}, "first": {first, "one", true}, "second": {second, "two", true}} {
		if got, ok := objectstore.ExtensionOf[tag](c.in); got != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if _, ok := objectstore.ExtensionOf[other](first); ok {
		t.Error("the first value has changed")
	}
	if _, ok := objectstore.ExtensionOf[string](second); ok {
		t.Error("a value is found by its underlying type")
	}
}
