package storetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// escapes are paths that a store which resolves them would take for others: for
// objects of its own under another name, or for those of strangers.
var escapes = []objectstore.Path{
	"..", ".", "../stranger", "../../stranger", "./own", "a/../own", "a/..", "a/.", "own/.", "a/../../stranger", "a/../../../stranger",
	"/../stranger", "//../../stranger", "a//../../stranger", "a/./../../stranger", "own/..", "../", "a/../../",
}

// spelled are paths that are no escapes unless somebody decodes them once more.
var spelled = []objectstore.Path{
	"%2e%2e/stranger", "a/%2e%2e/%2E%2E/stranger", "%2e./stranger", "..%2fstranger", "%252e%252e/stranger", `..\stranger`,
	"..;/stranger", "\uff0e\uff0e/stranger", "..\u200b/stranger", ".../stranger", "a..", "..a/b",
}

// testEscapes holds that a path names one object of this store, or is refused,
// whatever call it comes with.
func testEscapes(e *env) {
	outside := e.outside()
	before := e.everything(outside)
	e.put("own", "mine")
	spelled := e.taken(spelled)
	for _, path := range spelled {
		e.put(path, "at "+string(path))
		e.holds(path, "at "+string(path))
	}
	for _, path := range escapes {
		if !e.features.LooseKeyPaths || e.features.NoDotPaths {
			e.tryEscape(path)
		}
	}
	for _, path := range spelled {
		e.holds(path, "at "+string(path))
		if err := e.store.Delete(e.ctx(), path); err != nil {
			e.Errorf("delete %q: %v", path, err)
		}
	}
	e.holds("own", "mine")
	if got := e.list(nil); !slices.Equal(got, []string{"own"}) {
		e.Errorf("in the end there are %q", got)
	}
	if err := e.store.Delete(e.ctx(), "own"); err != nil {
		e.Fatal(err)
	}
	if after := e.everything(outside); !slices.Equal(after, before) {
		e.Errorf("outside of the store there is\n%q, was\n%q", after, before)
	}
}

// outside returns the surroundings of the store with a stranger's object, nil
// where it has none.
func (e *env) outside() objectstore.Store {
	if e.features.Outside == nil {
		return nil
	}
	outside := e.features.Outside(e.store)
	for _, path := range []objectstore.Path{"stranger", "a/stranger"} {
		if _, err := outside.Put(e.ctx(), path, objectstore.Bytes([]byte("secret")), nil); err != nil {
			e.Fatal(err)
		}
	}
	return outside
}

func (e *env) everything(outside objectstore.Store) (objects []string) {
	if outside == nil {
		return nil
	}
	for meta, err := range outside.List(e.ctx(), nil) {
		if err != nil {
			e.Fatal(err)
		}
		objects = append(objects, string(meta.Path)+" "+meta.ETag)
	}
	return objects
}

// tryEscape tries every call with a path.
func (e *env) tryEscape(path objectstore.Path) {
	e.Helper()
	refused := objectstore.CheckDots(path) != nil && e.refuses(path)
	result, err := e.store.Get(e.ctx(), path, nil)
	switch {
	case err == nil:
		e.Fatalf("get %q finds %q", path, e.read(result))
	case refused:
		e.wantError(err, objectstore.ErrInvalidPath)
	default:
		e.wantError(err, objectstore.ErrNotFound)
	}
	for _, prefix := range []string{string(path) + "/", string(path)} {
		if got := e.list(&objectstore.ListOptions{Prefix: prefix}); slices.Contains(got, "own") || slices.Contains(got, "stranger") {
			e.Errorf("prefix %q lists %q", prefix, got)
		}
		level, err := e.store.ListWithDelimiter(e.ctx(), &objectstore.ListOptions{Prefix: prefix})
		if err != nil {
			e.Fatalf("one level of prefix %q: %v", prefix, err)
		}
		for _, meta := range level.Objects {
			if !strings.HasPrefix(string(meta.Path), prefix) {
				e.Errorf("one level of prefix %q has %q", prefix, meta.Path)
			}
		}
	}
	if refused {
		e.refusedEverywhere(path)
		return
	}
	e.put(path, "at "+string(path))
	e.holds(path, "at "+string(path))
	e.holds("own", "mine")
	if err := e.store.Delete(e.ctx(), path); err != nil {
		e.Fatalf("delete %q: %v", path, err)
	}
}

func (e *env) refusedEverywhere(path objectstore.Path) {
	e.Helper()
	body := objectstore.Bytes([]byte("escaped"))
	_, err := e.store.Get(e.ctx(), path, &objectstore.GetOptions{Head: true})
	e.wantError(err, objectstore.ErrInvalidPath)
	_, err = e.store.Put(e.ctx(), path, body, nil)
	e.wantError(err, objectstore.ErrInvalidPath)
	_, err = e.store.PutMultipart(e.ctx(), path, nil)
	e.wantError(err, objectstore.ErrInvalidPath)
	e.wantError(e.store.Delete(e.ctx(), path), objectstore.ErrInvalidPath)
	e.wantError(e.store.Copy(e.ctx(), path, "copied", nil), objectstore.ErrInvalidPath)
	e.wantError(e.store.Copy(e.ctx(), "own", path, nil), objectstore.ErrInvalidPath)
	e.wantError(e.store.Rename(e.ctx(), path, "renamed", nil), objectstore.ErrInvalidPath)
	e.wantError(e.store.Rename(e.ctx(), "own", path, nil), objectstore.ErrInvalidPath)
	deleted := false
	for got, err := range objectstore.DeleteAll(e.ctx(), e.store, slices.Values([]objectstore.Path{"missing", path, "missing, too"})) {
		if got == path {
			deleted = true
			e.wantError(err, objectstore.ErrInvalidPath)
		} else if err != nil {
			e.Errorf("delete all: %q: %v", got, err)
		}
	}
	if !deleted {
		e.Errorf("delete all does not tell of %q", path)
	}
	if reader, ok := e.store.(objectstore.TagReader); ok {
		_, err := reader.Tags(e.ctx(), path)
		if !errors.Is(err, objectstore.ErrUnsupported) {
			e.wantError(err, objectstore.ErrInvalidPath)
		}
	}
	store, ok := e.store.(objectstore.MultipartStore)
	if !ok {
		return
	}
	if _, err := store.CreateMultipart(e.ctx(), path, nil); !errors.Is(err, objectstore.ErrUnsupported) {
		e.wantError(err, objectstore.ErrInvalidPath)
	}
	// An unknown upload is as good a reason.
	reasons := []error{objectstore.ErrInvalidPath, objectstore.ErrUploadNotFound}
	_, err = store.UploadPart(e.ctx(), path, "id", 1, body)
	e.wantError(err, reasons...)
	_, err = store.CompleteMultipart(e.ctx(), path, "id", []objectstore.Part{{Number: 1, ETag: "x"}}, nil)
	e.wantError(err, reasons...)
	e.wantError(store.AbortMultipart(e.ctx(), path, "id"), reasons...)
	for _, err := range store.ListParts(e.ctx(), path, "id") {
		e.wantError(err, reasons...)
	}
	for upload, err := range store.ListMultiparts(e.ctx(), string(path)+"/") {
		e.Errorf("there is the upload %+v, %v", upload, err)
	}
}
