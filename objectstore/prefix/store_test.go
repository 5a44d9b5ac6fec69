package prefix_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/prefix"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		inner := memory.New(nil)
		// What lies around the prefix must never show.
		for _, path := range []objectstore.Path{"a", "p", "p/q", "p/q-", "p/q0/x", "z", "p/q/r0", "p/q/"} {
			if _, err := inner.Put(t.Context(), path, objectstore.Bytes([]byte("outside")), nil); err != nil {
				t.Fatal(err)
			}
		}
		return prefix.New(inner, "p/q/r")
	}, storetest.Features{ListKeys: 50, MaxSegment: objectstore.MaxPathLength - len("p/q/r/")})
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
