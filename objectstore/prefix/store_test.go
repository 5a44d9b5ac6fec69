package prefix_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/prefix"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	outside := map[objectstore.Store]objectstore.Store{}
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		inner := memory.New(nil)
		// What lies around the prefix must never show.
		for _, path := range []objectstore.Path{"a", "p", "p/q", "p/q-", "p/q0/x", "z", "p/q/r0", "p/q/"} {
			if _, err := inner.Put(t.Context(), path, objectstore.Bytes([]byte("outside")), nil); err != nil {
				t.Fatal(err)
			}
		}
		s := prefix.New(inner, "p/q/r")
		outside[s] = inner
		return s
	}, storetest.Features{
		ListKeys: 50, MaxSegment: objectstore.MaxPathLength - len("p/q/r/"), NoDotPaths: true,
		Outside: func(s objectstore.Store) objectstore.Store { return outside[s] },
	})
}

// resolving is a store that resolves dots in paths, as servers do that keep
// objects as files.
type resolving struct{ objectstore.MultipartStore }

func resolve(p objectstore.Path) objectstore.Path {
	return objectstore.Path(strings.TrimPrefix(path.Clean("/"+string(p)), "/"))
}

func (r resolving) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	return r.MultipartStore.Get(ctx, resolve(path), options)
}

func (r resolving) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	return r.MultipartStore.Put(ctx, resolve(path), body, options)
}

func (r resolving) Delete(ctx context.Context, path objectstore.Path) error {
	return r.MultipartStore.Delete(ctx, resolve(path))
}

func (r resolving) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return r.MultipartStore.Copy(ctx, resolve(from), resolve(to), options)
}

func (r resolving) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return r.MultipartStore.Rename(ctx, resolve(from), resolve(to), options)
}

func (r resolving) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	return r.MultipartStore.CreateMultipart(ctx, resolve(path), options)
}

func TestAPathNeverLeavesThePrefixOfAStoreThatResolvesDots(t *testing.T) {
	inner := resolving{memory.New(nil)}
	put := func(s objectstore.Store, path objectstore.Path) error {
		_, err := s.Put(t.Context(), path, objectstore.Bytes([]byte("at "+string(path))), nil)
		return err
	}
	for _, path := range []objectstore.Path{"other/x", "stranger", "pre/own"} {
		if err := put(inner, path); err != nil {
			t.Fatal(err)
		}
	}
	s := prefix.New(inner, "pre")
	escapes := []objectstore.Path{"../other/x", "a/../../other/x", "..", "own/../../stranger", "/../../stranger", "./../stranger"}
	for _, path := range escapes {
		if result, err := s.Get(t.Context(), path, nil); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("get %q: %+v, %v", path, result, err)
		}
		for what, err := range map[string]error{
			"put": put(s, path), "delete": s.Delete(t.Context(), path),
			"copy from": s.Copy(t.Context(), path, "stolen", nil), "copy to": s.Copy(t.Context(), "own", path, nil),
			"rename from": s.Rename(t.Context(), path, "stolen", nil), "rename to": s.Rename(t.Context(), "own", path, nil),
		} {
			if !errors.Is(err, objectstore.ErrInvalidPath) {
				t.Errorf("%s %q: %v", what, path, err)
			}
		}
		if upload, err := s.PutMultipart(t.Context(), path, nil); !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("put multipart %q: %v, %v", path, upload, err)
		}
	}
	for path, err := range objectstore.DeleteAll(t.Context(), s, slices.Values(escapes)) {
		if !errors.Is(err, objectstore.ErrInvalidPath) {
			t.Errorf("delete %q: %v", path, err)
		}
	}
	for _, path := range []objectstore.Path{"other/x", "stranger", "pre/own"} {
		if data, _, err := objectstore.ReadAll(t.Context(), inner, path); string(data) != "at "+string(path) {
			t.Errorf("%q holds %q, %v", path, data, err)
		}
	}
}

func TestErrorsHaveThePathsOfTheCaller(t *testing.T) {
	s := prefix.New(memory.New(nil), "tenant/1")
	_, err := s.Get(t.Context(), "missing", nil)
	var e *objectstore.Error
	if !errors.As(err, &e) || e.Path != "missing" || e.Store != "memory/tenant/1" {
		t.Fatalf("error is %+v", err)
	}
}

func TestOptionalInterfacesAreThoseOfTheInnerStore(t *testing.T) {
	full := prefix.New(memory.New(nil), "p")
	if _, ok := full.(objectstore.MultipartStore); !ok {
		t.Error("MultipartStore is lost")
	}
	if _, ok := full.(objectstore.BulkDeleter); !ok {
		t.Error("BulkDeleter is lost")
	}
	plain := prefix.New(struct{ objectstore.Store }{memory.New(nil)}, "p")
	if _, ok := plain.(objectstore.MultipartStore); ok {
		t.Error("MultipartStore is promised but cannot be held")
	}
	if _, ok := plain.(objectstore.BulkDeleter); ok {
		t.Error("BulkDeleter is promised but cannot be held")
	}
}

func TestPathsTooLongWithThePrefixAreRefused(t *testing.T) {
	s := prefix.New(memory.New(nil), "p")
	long := objectstore.Path(slices.Repeat([]byte("x"), objectstore.MaxPathLength))
	if _, err := s.Put(t.Context(), long, objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrInvalidPath) {
		t.Fatal(err)
	}
}
