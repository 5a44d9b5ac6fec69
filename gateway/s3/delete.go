package s3

import (
	"errors"
	"net/http"
	"slices"

	"github.com/stardustdb/stardust/objectstore"
)

// maxDeletes is how many keys a DeleteObjects may name.
const maxDeletes = 1000

// deleteObject serves DeleteObject. That there was no object is a success.
func (x *exchange) deleteObject() error {
	if err := checkVersion(x.query.get("versionId")); err != nil {
		return err
	}
	for _, name := range [...]string{"If-Match", "X-Amz-If-Match-Last-Modified-Time", "X-Amz-If-Match-Size"} {
		if x.r.Header.Get(name) != "" {
			failure := fail("NotImplemented", notImplementedMessage)
			failure.Fields = map[string]string{"Header": name}
			return failure
		}
	}
	err := x.bucket.store.Delete(x.r.Context(), x.path)
	if err != nil && !errors.Is(err, objectstore.ErrNotFound) {
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

// checkVersion refuses version ids: no Store deletes one version alone.
func checkVersion(id string) error {
	if id == "" || id == "null" {
		return nil
	}
	return fail("InvalidArgument", "Invalid version id specified")
}

// deleteObjects serves DeleteObjects.
func (x *exchange) deleteObjects() error {
	e, err := x.readDocument("Delete", true)
	if err != nil {
		return err
	}
	var paths []objectstore.Path
	refused := make(map[string]*Failure)
	count := 0
	for i := range e.children {
		object := &e.children[i]
		if object.name != "Object" {
			continue
		}
		if count++; count > maxDeletes {
			return malformedXML(errors.New("more than 1000 keys"))
		}
		key, ok := object.find("Key")
		if !ok || key == "" {
			return malformedXML(errors.New("an Object without Key"))
		}
		path, err := parseKey(key)
		if err == nil {
			err = checkVersion(object.child("VersionId"))
		}
		if err != nil {
			refused[key] = asFailure(err)
			continue
		}
		paths = append(paths, path)
	}
	if count == 0 {
		return malformedXML(errors.New("no keys"))
	}
	d := newDocument("DeleteResult", namespace)
	for key, failure := range refused {
		appendDeleteError(d, key, failure)
	}
	quiet := e.child("Quiet") == "true"
	for path, err := range objectstore.DeleteAll(x.r.Context(), x.bucket.store, slices.Values(paths)) {
		switch {
		case err != nil:
			appendDeleteError(d, string(path), x.failureOf(err))
		case !quiet:
			d.open("Deleted")
			d.text("Key", string(path))
			d.close("Deleted")
		}
	}
	x.writeDocument(http.StatusOK, d)
	return nil
}

func appendDeleteError(d *document, key string, failure *Failure) {
	d.open("Error")
	d.text("Key", key)
	d.text("Code", failure.Code)
	d.text("Message", failure.Message)
	d.close("Error")
}
