package storetest

import (
	"context"
	"errors"
	"maps"
	"reflect"

	"github.com/stardustdb/stardust/objectstore"
)

var putTests = []test{
	{"overwrites", func(e *env) {
		e.put("a/b", pattern(1, 10_000))
		e.put("a/b", "short")
		e.holds("a/b", "short")
	}},
	{"creates only when there is nothing", func(e *env) {
		create := &objectstore.PutOptions{Mode: objectstore.Create}
		if _, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("first")), create); err != nil {
			e.Fatal(err)
		}
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("second")), create)
		e.wantError(err, objectstore.ErrAlreadyExists)
		e.holds("object", "first")
		if err := e.store.Delete(e.ctx(), "object"); err != nil {
			e.Fatal(err)
		}
		if _, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("third")), create); err != nil {
			e.Fatalf("create after delete: %v", err)
		}
		e.holds("object", "third")
	}},
	{"updates only the version named", func(e *env) {
		first := e.put("object", "first")
		update := func(etag, data string) (*objectstore.PutResult, error) {
			return e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte(data)), &objectstore.PutOptions{
				Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: etag},
			})
		}
		second, err := update(first.ETag, "second")
		if err != nil {
			e.Fatal(err)
		}
		_, err = update(first.ETag, "stale")
		e.wantError(err, objectstore.ErrPrecondition)
		e.holds("object", "second")
		if _, err := update(second.ETag, "third"); err != nil {
			e.Fatal(err)
		}
		e.holds("object", "third")
	}},
	{"updates with the ETag that a read returned", func(e *env) {
		e.put("object", "first")
		result, _ := e.get("object", nil)
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("second")), &objectstore.PutOptions{
			Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: result.Meta.ETag},
		})
		if err != nil {
			e.Fatal(err)
		}
		e.holds("object", "second")
	}},
	{"does not update what is missing", func(e *env) {
		etag := e.put("gone", "x").ETag
		if err := e.store.Delete(e.ctx(), "gone"); err != nil {
			e.Fatal(err)
		}
		_, err := e.store.Put(e.ctx(), "gone", objectstore.Bytes([]byte("new")), &objectstore.PutOptions{
			Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: etag},
		})
		e.wantError(err, objectstore.ErrPrecondition)
		e.missing("gone")
	}},
	{"refuses options that cannot be", func(e *env) {
		e.put("object", "old")
		for _, options := range []objectstore.PutOptions{{Mode: objectstore.Update}, {Mode: 99}, {Mode: -1}} {
			_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("new")), &options)
			e.wantError(err, objectstore.ErrInvalidOption)
		}
		e.holds("object", "old")
	}},
	{"keeps attributes", func(e *env) {
		want := objectstore.Attributes{
			ContentType: "text/plain; charset=utf-8", ContentEncoding: "identity",
			ContentDisposition: `attachment; filename="a b.txt"`, ContentLanguage: "de-CH", CacheControl: "max-age=60, public",
			Metadata: map[string]string{"owner": "someone", "with-dash": "a value, with = and ; signs", "empty": ""},
		}
		given := want
		given.Metadata = maps.Clone(want.Metadata)
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{Attributes: given})
		if err != nil {
			e.Fatal(err)
		}
		given.Metadata["owner"] = "changed after the write"
		for _, head := range []bool{false, true} {
			result, _ := e.get("object", &objectstore.GetOptions{Head: head})
			if !reflect.DeepEqual(result.Attributes, want) {
				e.Errorf("head %v: attributes are\n%+v, want\n%+v", head, result.Attributes, want)
			}
		}
	}},
	{"replaces attributes with the object", func(e *env) {
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{
			Attributes: objectstore.Attributes{ContentType: "text/x-old", Metadata: map[string]string{"key": "old"}},
		})
		if err != nil {
			e.Fatal(err)
		}
		e.put("object", "y")
		result, _ := e.get("object", nil)
		if result.Attributes.ContentType == "text/x-old" || len(result.Attributes.Metadata) > 0 {
			e.Fatalf("attributes of the old object remain: %+v", result.Attributes)
		}
	}},
	{"lower-cases metadata keys", func(e *env) {
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{
			Attributes: objectstore.Attributes{Metadata: map[string]string{"MixedCase": "Value"}},
		})
		if err != nil {
			e.Fatal(err)
		}
		result, _ := e.get("object", nil)
		if got := result.Attributes.Metadata; !maps.Equal(got, map[string]string{"mixedcase": "Value"}) {
			e.Fatalf("metadata is %v", got)
		}
	}},
	{"keeps tags", func(e *env) {
		tagged, ok := e.store.(objectstore.TagReader)
		if !ok || e.features.NoTags {
			e.Skip("the store has no tags")
		}
		want := map[string]string{"team": "a b", "stage": "x+y=z"}
		_, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{Tags: want})
		if err != nil {
			e.Fatal(err)
		}
		if got, err := tagged.Tags(e.ctx(), "object"); err != nil || !maps.Equal(got, want) {
			e.Fatalf("tags are %v (%v), want %v", got, err, want)
		}
		e.put("object", "y")
		if got, err := tagged.Tags(e.ctx(), "object"); err != nil || len(got) > 0 {
			e.Fatalf("after an overwrite tags are %v (%v)", got, err)
		}
		_, err = tagged.Tags(e.ctx(), "missing")
		e.wantError(err, objectstore.ErrNotFound)
	}},
	{"does nothing once the context has ended", func(e *env) {
		e.put("kept", "old")
		ctx, cancel := context.WithCancel(e.ctx())
		cancel()
		_, err := e.store.Put(ctx, "object", objectstore.Bytes([]byte("x")), nil)
		e.wantError(err, context.Canceled)
		_, err = e.store.Get(ctx, "kept", nil)
		e.wantError(err, context.Canceled)
		e.wantError(e.store.Delete(ctx, "kept"), context.Canceled)
		e.wantError(e.store.Copy(ctx, "kept", "object", nil), context.Canceled)
		e.wantError(e.store.Rename(ctx, "kept", "object", nil), context.Canceled)
		_, err = e.store.ListWithDelimiter(ctx, nil)
		e.wantError(err, context.Canceled)
		_, err = e.store.PutMultipart(ctx, "object", nil)
		e.wantError(err, context.Canceled)
		err = errors.New("the list ended without error")
		for _, one := range e.store.List(ctx, nil) {
			err = one
		}
		e.wantError(err, context.Canceled)
		e.missing("object")
		e.holds("kept", "old")
	}},
}
