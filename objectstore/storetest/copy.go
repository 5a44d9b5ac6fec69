package storetest

import (
	"context"
	"reflect"

	"github.com/stardustdb/stardust/objectstore"
)

type copier func(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error

var copyTests = []test{
	{"copies bytes and attributes", func(e *env) { testCopy(e, e.store.Copy, false) }},
	{"renames bytes and attributes", func(e *env) { testCopy(e, e.store.Rename, true) }},
	{"replaces attributes when asked", func(e *env) {
		_, err := e.store.Put(e.ctx(), "from", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{
			Attributes: objectstore.Attributes{ContentType: "text/x-old", Metadata: map[string]string{"key": "old"}},
		})
		if err != nil {
			e.Fatal(err)
		}
		attributes := objectstore.Attributes{ContentType: "text/x-new", Metadata: map[string]string{"other": "new"}}
		if err := e.store.Copy(e.ctx(), "from", "to", &objectstore.CopyOptions{Attributes: &attributes}); err != nil {
			e.Fatal(err)
		}
		if result, _ := e.get("to", nil); !reflect.DeepEqual(result.Attributes, attributes) {
			e.Fatalf("attributes are %+v", result.Attributes)
		}
		if err := e.store.Copy(e.ctx(), "from", "from", &objectstore.CopyOptions{Attributes: &attributes}); err != nil {
			e.Fatalf("onto itself with new attributes: %v", err)
		}
		if result, data := e.get("from", nil); !reflect.DeepEqual(result.Attributes, attributes) || data != "x" {
			e.Fatalf("onto itself: attributes are %+v, bytes %q", result.Attributes, data)
		}
	}},
	{"onto itself changes nothing", func(e *env) {
		e.put("object", "x")
		if err := e.store.Copy(e.ctx(), "object", "object", nil); err != nil {
			e.Fatalf("copy: %v", err)
		}
		if err := e.store.Rename(e.ctx(), "object", "object", nil); err != nil {
			e.Fatalf("rename: %v", err)
		}
		e.holds("object", "x")
	}},
	{"refuses mode Update", func(e *env) {
		etag := e.put("from", "x").ETag
		options := &objectstore.CopyOptions{Mode: objectstore.Update}
		e.wantError(e.store.Copy(e.ctx(), "from", "to", options), objectstore.ErrUnsupported, objectstore.ErrInvalidOption)
		e.wantError(e.store.Rename(e.ctx(), "from", "to", options), objectstore.ErrUnsupported, objectstore.ErrInvalidOption)
		e.missing("to")
		if head, _ := e.get("from", &objectstore.GetOptions{Head: true}); head.Meta.ETag != etag {
			e.Fatalf("ETag is %q, was %q", head.Meta.ETag, etag)
		}
	}},
}

func testCopy(e *env, copier copier, moves bool) {
	attributes := objectstore.Attributes{ContentType: "text/x-test", Metadata: map[string]string{"key": "value"}}
	data := pattern(3, 100_000)
	write := func() {
		e.Helper()
		_, err := e.store.Put(e.ctx(), "from/object", objectstore.Bytes([]byte(data)), &objectstore.PutOptions{Attributes: attributes})
		if err != nil {
			e.Fatal(err)
		}
	}
	check := func() {
		e.Helper()
		result, got := e.get("to/object", nil)
		if got != data || !reflect.DeepEqual(result.Attributes, attributes) {
			e.Fatalf("copy holds %s with %+v", brief(got), result.Attributes)
		}
		if moves {
			e.missing("from/object")
		} else {
			e.holds("from/object", data)
		}
	}
	e.wantError(copier(e.ctx(), "from/object", "to/object", nil), objectstore.ErrNotFound)
	e.missing("to/object")

	write()
	if err := copier(e.ctx(), "from/object", "to/object", nil); err != nil {
		e.Fatal(err)
	}
	check()

	write()
	e.put("to/object", "to be replaced")
	if err := copier(e.ctx(), "from/object", "to/object", nil); err != nil {
		e.Fatal(err)
	}
	check()

	create := &objectstore.CopyOptions{Mode: objectstore.Create}
	write()
	e.put("to/object", "stays")
	if e.features.NoCreateCopy {
		e.wantError(copier(e.ctx(), "from/object", "to/object", create), objectstore.ErrUnsupported)
		return
	}
	e.wantError(copier(e.ctx(), "from/object", "to/object", create), objectstore.ErrAlreadyExists)
	e.holds("to/object", "stays")
	e.holds("from/object", data)
	e.wantError(copier(e.ctx(), "from/object", "from/object", create), objectstore.ErrAlreadyExists)
	e.holds("from/object", data)
	if err := e.store.Delete(e.ctx(), "to/object"); err != nil {
		e.Fatal(err)
	}
	if err := copier(e.ctx(), "from/object", "to/object", create); err != nil {
		e.Fatal(err)
	}
	check()
}
