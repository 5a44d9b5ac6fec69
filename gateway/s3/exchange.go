package s3

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// exchange is one request and its response. Only one goroutine uses it. S3's
// operations are methods of types around it, a file each: objects, copies,
// deletes, tags, multiparts, lists, forms, buckets and settings.
type exchange struct {
	request
	response
	h *Handler

	bucket    *bucket
	operation string
	payload   *auth.Payload // set once a body is asked for
	// continued says that 100 Continue was sent for an empty body.
	continued bool
}

// serve answers the request or returns the error to answer with.
func (x *exchange) serve() error {
	if !x.h.slots.TryAcquire(1) {
		x.operation = "Refused"
		x.w.Header().Set("Retry-After", "1")
		return s3err.TooManyRequests.New(x.options.MaxConcurrentRequests)
	}
	defer x.h.slots.Release(1)
	var err error
	if x.query, err = auth.ParseQuery(x.r.URL.RawQuery); err != nil {
		return err
	}
	x.bucketName, x.key = splitPath(x.r, x.options.Domain)
	op, err := x.route()
	if err != nil {
		return err
	}
	x.operation = op.name
	if op.open {
		return op.serve()
	}
	if err := x.allowPage(); err != nil {
		return err
	}
	if x.identity, err = x.h.auth.Verify(x.r, x.query); err != nil {
		return err
	}
	if owner := x.header("X-Amz-Expected-Bucket-Owner"); owner != "" && owner != x.owner() {
		return s3err.AccessDenied.New()
	}
	if err := x.authorize(); err != nil {
		return err
	}
	if x.bucketName != "" && !op.noBucket {
		if x.bucket, err = x.h.bucket(x.r.Context(), x.bucketName); err != nil {
			return err
		}
	}
	if x.key != "" {
		if x.path, err = parseKey(x.key); err != nil {
			return err
		}
	}
	return op.serve()
}

// authorize asks whether the request may go on. DeleteObjects and the source of a
// copy ask again, for the keys that they name elsewhere.
func (x *exchange) authorize() error {
	read := x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
	key := x.key
	if key == "" && read {
		key = x.query.Get("prefix")
	}
	if x.key == "" && x.r.Method == http.MethodPost && x.query.Has("delete") {
		return nil // each of its keys is asked for
	}
	return x.allow(x.bucketName, key, !read)
}

// stat returns the object's metadata, without conditions.
func (x *exchange) stat() (*objectstore.GetResult, error) {
	return x.bucket.store.Get(x.r.Context(), x.path, &objectstore.GetOptions{Head: true, Extensions: x.extensions()})
}

// fail answers with an error, if that is still possible, and returns it.
func (x *exchange) fail(err error) *Failure {
	failure := x.failureOf(err)
	switch {
	case x.status != 0:
		x.broken = true
	case failure.Row == s3err.NotModified:
		x.writeStatus(failure.Status())
	default:
		if x.expectsNothing() {
			x.w.Header().Set("Connection", "close")
		}
		x.writeFailure(failure)
	}
	return failure
}

func (x *exchange) failureOf(err error) *Failure {
	// The body knows best why it failed; a Store may have lost that in wrapping.
	if x.payload != nil && x.payload.Failure() != nil {
		return asFailure(x.payload.Failure())
	}
	var known *Failure
	if x.options.Failure != nil && !errors.As(err, &known) {
		if failure := x.options.Failure(err); failure != nil {
			if failure.Err == nil {
				failure.Err = err
			}
			return failure
		}
	}
	return asFailure(err)
}

// writeFailure sends an error document.
func (x *exchange) writeFailure(failure *Failure) {
	x.w.Header().Set("X-Amz-Id-2", x.id)
	d := document.Error{
		Code: failure.Code(), Message: failure.Message, BucketName: x.bucketName, Key: x.key,
		Resource: x.r.URL.Path, RequestID: x.id, HostID: x.id,
	}
	if failure.Fields["BucketName"] != "" {
		d.BucketName = ""
	}
	for _, name := range slices.Sorted(maps.Keys(failure.Fields)) {
		d.Fields = append(d.Fields, document.NewElement(name, failure.Fields[name]))
	}
	_ = x.writeDocument(failure.Status(), d) // strings alone, which encoding/xml takes
}
