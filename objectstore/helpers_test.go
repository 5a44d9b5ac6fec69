package objectstore_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestReadAllRefusesShortBodies(t *testing.T) {
	inner := memory.New(nil)
	if _, err := inner.Put(t.Context(), "object", objectstore.Bytes([]byte("0123456789")), nil); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []storetest.Fault{{Cut: true, CutAt: 4}, {Short: true, CutAt: 4}, {Short: true}} {
		s := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault { return fault }})
		if data, _, err := objectstore.ReadAll(t.Context(), s, "object"); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%+v: read %q, %v", fault, data, err)
		}
	}
}

func TestProbeFindsCreatesThatAreNotHonored(t *testing.T) {
	inner := memory.New(nil)
	if err := objectstore.ProbeCreate(t.Context(), inner, "some/prefix"); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]objectstore.Store{
		"ignored": &ignoring{Store: inner}, "checked first, written later": &checking{Store: inner, all: make(chan struct{})},
	} {
		err := objectstore.ProbeCreate(t.Context(), s, "")
		if !errors.Is(err, objectstore.ErrUnsupported) || !strings.Contains(err.Error(), "racing") {
			t.Errorf("%s: %v", name, err)
		}
	}
	denied := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault {
		return storetest.Fault{Before: objectstore.ErrPermissionDenied}
	}})
	if err := objectstore.ProbeCreate(t.Context(), denied, ""); !errors.Is(err, objectstore.ErrPermissionDenied) {
		t.Error(err)
	}
	for meta, err := range inner.List(t.Context(), nil) {
		t.Errorf("the probe left %q, %v", meta.Path, err)
	}
}

// ignoring is a store that drops the condition.
type ignoring struct{ objectstore.Store }

func (s *ignoring) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, _ *objectstore.PutOptions) (*objectstore.PutResult, error) {
	return s.Store.Put(ctx, path, body, nil)
}

// checking is a store that looks first whether there is an object. The probe's
// writers all look before one of them writes.
type checking struct {
	objectstore.Store
	mu      sync.Mutex
	waiting int
	all     chan struct{}
}

func (s *checking) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, _ *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if _, err := objectstore.Head(ctx, s.Store, path); err == nil {
		return nil, &objectstore.Error{Op: "put", Err: objectstore.ErrAlreadyExists}
	}
	s.mu.Lock()
	if s.waiting++; s.waiting == 32 {
		close(s.all)
	}
	s.mu.Unlock()
	<-s.all
	return s.Store.Put(ctx, path, body, nil)
}

func TestErrorsNameWhatFailed(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]*objectstore.Error{
		"get: cause":                  {Op: "get", Err: cause},
		`get "a": cause`:              {Op: "get", Path: "a", Err: cause},
		"list in s3://b: cause":       {Op: "list", Store: "s3://b", Err: cause},
		`get "a\nb" in s3://b: cause`: {Op: "get", Store: "s3://b", Path: "a\nb", Err: cause},
	} {
		if err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}
