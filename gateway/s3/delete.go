package s3

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// maxDeletes is how many keys a DeleteObjects may name.
const maxDeletes = 1000

// deletes remove objects.
type deletes struct{ *exchange }

// one serves DeleteObject. That there was no object is a success.
func (x deletes) one() error {
	if err := checkVersion(x.query.Get("versionId")); err != nil {
		return err
	}
	for _, name := range [...]string{"X-Amz-If-Match-Last-Modified-Time", "X-Amz-If-Match-Size"} {
		if x.r.Header.Get(name) != "" {
			return unimplemented(name)
		}
	}
	match := x.r.Header.Get("If-Match")
	var err error
	if conditional, ok := x.bucket.store.(objectstore.ConditionalDeleter); match != "" && ok {
		err = conditional.DeleteMatching(x.r.Context(), x.path, strings.Join(parseETags(match, false), ","))
	} else if match != "" {
		return unimplemented("If-Match")
	} else {
		err = x.bucket.store.Delete(x.r.Context(), x.path)
	}
	switch {
	case err == nil:
	case match != "" && errors.Is(err, objectstore.ErrNotFound):
		return err // S3 tells of it when there is a condition
	case !errors.Is(err, objectstore.ErrNotFound):
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

// unimplemented is the Failure of a header that asks for what is not done.
func unimplemented(header string) *Failure {
	return s3err.NotImplemented.New().With("Header", header)
}

// checkVersion refuses version ids: no Store deletes one version alone.
func checkVersion(id string) error {
	if id == "" || id == "null" {
		return nil
	}
	return s3err.VersionInvalid.New()
}

// many serves DeleteObjects.
func (x deletes) many() error {
	var paths []objectstore.Path
	refused := make(map[string]*Failure)
	count, quiet := 0, false
	err := x.readDocument("Delete", true, func(c xmlChild) error {
		switch c.name() {
		case "Quiet":
			text, err := c.text()
			quiet = strings.TrimSpace(text) == "true"
			return err
		case "Object":
		default:
			return c.skip()
		}
		if count++; count > maxDeletes {
			return errors.New("more than 1000 keys")
		}
		var object struct{ Key, VersionId string }
		if err := c.decode(&object); err != nil {
			return err
		}
		if object.Key == "" {
			return errors.New("an Object without Key")
		}
		path, err := parseKey(object.Key)
		if err == nil {
			err = x.allow(x.bucketName, object.Key, true)
		}
		if err == nil {
			err = checkVersion(strings.TrimSpace(object.VersionId))
		}
		if err != nil {
			refused[object.Key] = asFailure(err)
			return nil
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		return err
	}
	if count == 0 {
		return malformedXML(errors.New("no keys"))
	}
	var d document.DeleteResult
	for key, failure := range refused {
		d.Error = append(d.Error, deleteError(key, failure))
	}
	for path, err := range objectstore.DeleteAll(x.r.Context(), x.bucket.store, slices.Values(paths)) {
		switch {
		case err != nil:
			d.Error = append(d.Error, deleteError(string(path), x.failureOf(err)))
		case !quiet:
			d.Deleted = append(d.Deleted, document.Deleted{Key: string(path)})
		}
	}
	return x.writeDocument(http.StatusOK, d)
}

func deleteError(key string, failure *Failure) document.DeleteError {
	return document.DeleteError{Key: key, Code: failure.Code(), Message: failure.Message}
}
