package s3

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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
	condition, err := parseDeleteCondition(x.r.Header.Get("If-Match"), x.header("X-Amz-If-Match-Last-Modified-Time"), x.header("X-Amz-If-Match-Size"))
	if err != nil {
		return err
	}
	if condition.none() {
		if err := x.bucket.store.Delete(x.r.Context(), x.path); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
			return err
		}
	} else if err := x.matching(x.path, condition); err != nil {
		return err // S3 tells of a missing object when there is a condition
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

// deleteCondition is what must hold of an object that is deleted. Zero fields ask
// for nothing.
type deleteCondition struct {
	etag     string // a list
	modified time.Time
	size     *int64
}

func (c deleteCondition) none() bool { return c.etag == "" && c.modified.IsZero() && c.size == nil }

// parseDeleteCondition reads a condition from its three texts, "" for none.
func parseDeleteCondition(etag, modified, size string) (c deleteCondition, err error) {
	if etag != "" {
		// A weak ETag matches nothing, and neither does this one.
		c.etag = cmp.Or(strings.Join(parseETags(etag, false), ","), "none")
	}
	if modified != "" {
		var ok bool
		if c.modified, ok = parseHTTPTime(modified); !ok {
			return c, s3err.DeleteConditionInvalid.New().Argument("x-amz-if-match-last-modified-time", modified)
		}
	}
	if size != "" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return c, s3err.DeleteConditionInvalid.New().Argument("x-amz-if-match-size", size)
		}
		c.size = &n
	}
	return c, nil
}

// matching deletes an object under a condition. What the Store cannot compare
// is compared here, and the object must still be the same when it is deleted.
func (x deletes) matching(path objectstore.Path, c deleteCondition) error {
	conditional, ok := x.bucket.store.(objectstore.ConditionalDeleter)
	if !ok {
		return unimplemented("If-Match")
	}
	if c.modified.IsZero() && c.size == nil {
		return conditional.DeleteMatching(x.r.Context(), path, c.etag)
	}
	result, err := x.bucket.store.Get(x.r.Context(), path, &objectstore.GetOptions{Head: true, Extensions: x.extensions()})
	if err != nil {
		return err
	}
	meta := result.Meta
	switch {
	case c.size != nil && meta.Size != *c.size,
		!c.modified.IsZero() && meta.LastModified.Unix() != c.modified.Unix(),
		c.etag != "" && !objectstore.MatchETag(c.etag, meta.ETag):
		return s3err.PreconditionFailed.New()
	}
	return conditional.DeleteMatching(x.r.Context(), path, meta.ETag)
}

// unimplemented is the Failure of a header that asks for something unsupported.
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
	conditions := make(map[objectstore.Path]deleteCondition)
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
		var object struct{ Key, VersionId, ETag, LastModifiedTime, Size string }
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
		var condition deleteCondition
		if err == nil {
			condition, err = parseDeleteCondition(object.ETag, strings.TrimSpace(object.LastModifiedTime), strings.TrimSpace(object.Size))
		}
		if err != nil {
			refused[object.Key] = asFailure(err)
			return nil
		}
		if condition.none() {
			paths = append(paths, path)
		} else {
			conditions[path] = condition
		}
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
	done := func(path objectstore.Path, err error) {
		switch {
		case err != nil:
			d.Error = append(d.Error, deleteError(string(path), x.failureOf(err)))
		case !quiet:
			d.Deleted = append(d.Deleted, document.Deleted{Key: string(path)})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(conditions)) {
		done(path, x.matching(path, conditions[path]))
	}
	for path, err := range objectstore.DeleteAll(x.r.Context(), x.bucket.store, slices.Values(paths)) {
		done(path, err)
	}
	return x.writeDocument(http.StatusOK, d)
}

func deleteError(key string, failure *Failure) document.DeleteError {
	return document.DeleteError{Key: key, Code: failure.Code(), Message: failure.Message}
}
