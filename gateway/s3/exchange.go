package s3

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// exchange is one request and its response. One goroutine uses it.
type exchange struct {
	h  *Handler
	w  http.ResponseWriter
	r  *http.Request
	id string

	query      auth.Query
	bucketName string
	key        string
	path       objectstore.Path // key, validated; empty for bucket operations
	bucket     *bucket
	identity   auth.Identity
	operation  string
	payload    *auth.Payload // set once a body is asked for

	status int   // sent, or 0
	sent   int64 // bytes of the response's body
	// continued says that 100 Continue was sent for an empty body.
	continued bool
	broken    bool // the response's body cannot be completed
}

// serve answers the request or returns the error to answer with.
func (x *exchange) serve() error {
	if !x.h.slots.TryAcquire(1) {
		x.operation = "Refused"
		x.w.Header().Set("Retry-After", "1")
		return s3err.TooManyRequests.New(x.h.options.MaxConcurrentRequests)
	}
	defer x.h.slots.Release(1)
	var err error
	if x.query, err = auth.ParseQuery(x.r.URL.RawQuery); err != nil {
		return err
	}
	x.bucketName, x.key = x.h.splitPath(x.r)
	op, err := x.route()
	if err != nil {
		return err
	}
	x.operation = op.name
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
	return op.serve(x)
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

func (x *exchange) allow(bucket, key string, write bool) error {
	ask := x.h.options.Authorize
	if ask == nil || ask(x.r.Context(), Access{AccessKey: x.identity.AccessKey, Bucket: bucket, Key: key, Write: write}) {
		return nil
	}
	return s3err.AccessDenied.New()
}

// splitPath returns the bucket and key that the request is for, each empty
// when there is none. net/http has decoded the path, once.
func (h *Handler) splitPath(r *http.Request) (bucket, key string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if h.options.Domain != "" {
		host, _, _ := strings.Cut(r.Host, ":")
		if name, ok := strings.CutSuffix(host, "."+h.options.Domain); ok && name != "" {
			return name, path
		}
	}
	bucket, key, _ = strings.Cut(path, "/")
	return bucket, key
}

// parseKey validates a key that a client chose.
func parseKey(key string) (objectstore.Path, error) {
	path, err := objectstore.KeyPath(key)
	switch {
	case err == nil:
		return path, nil
	case len(key) > objectstore.MaxPathLength:
		return "", s3err.KeyTooLong.New().With("Size", strconv.Itoa(len(key))).With("MaxSizeAllowed", strconv.Itoa(objectstore.MaxPathLength))
	default:
		return "", s3err.KeyInvalid.Wrap(err)
	}
}

// header returns a header of the request, "" when there is none. In a presigned
// URL a client may give any x-amz- header in the query instead.
func (x *exchange) header(name string) string {
	value, _ := x.lookup(name)
	return value
}

// lookup is header that also tells whether the header is there.
func (x *exchange) lookup(name string) (string, bool) {
	values := x.r.Header[name] // most names are given in canonical form
	if values == nil {
		values = x.r.Header.Values(name)
	}
	if len(values) > 0 {
		return values[0], true
	}
	if x.identity.Presigned {
		return x.query.LookupFold(name)
	}
	return "", false
}

// owner is who S3's documents name as the owner of all: the key that asks.
func (x *exchange) owner() string {
	if x.identity.AccessKey == "" {
		return "anonymous"
	}
	return x.identity.AccessKey
}

// extensions returns what the hook attaches to the Store's calls.
func (x *exchange) extensions() objectstore.Extensions {
	if x.h.options.Extensions == nil {
		return objectstore.Extensions{}
	}
	return x.h.options.Extensions(x.r, x.bucketName, x.path)
}

// fail answers with an error, if that is still possible, and returns it.
func (x *exchange) fail(err error) *Failure {
	failure := x.failureOf(err)
	switch {
	case x.status != 0:
		x.broken = true
	case failure.Row == s3err.NotModified:
		x.writeStatus(http.StatusNotModified)
	default:
		if x.expectsNothing() {
			x.w.Header().Set("Connection", "close")
		}
		x.writeFailure(failure)
	}
	return failure
}

func (x *exchange) failureOf(err error) *Failure {
	// The body knows best why it failed; a Store may have wrapped it without
	// care.
	if x.payload != nil && x.payload.Failure() != nil {
		return asFailure(x.payload.Failure())
	}
	var known *Failure
	if x.h.options.Failure != nil && !errors.As(err, &known) {
		if failure := x.h.options.Failure(err); failure != nil {
			if failure.Err == nil {
				failure.Err = err
			}
			return failure
		}
	}
	return asFailure(err)
}

// writeFailure sends an error document. A HEAD request gets the headers only.
func (x *exchange) writeFailure(failure *Failure) {
	x.w.Header().Set("X-Amz-Id-2", x.id)
	d := newDocument("Error", "")
	d.text("Code", failure.Code())
	d.text("Message", failure.Message)
	if x.bucketName != "" && failure.Fields["BucketName"] == "" {
		d.text("BucketName", x.bucketName)
	}
	if x.key != "" {
		d.text("Key", printable(x.key))
	}
	for name, value := range failure.Fields {
		d.text(name, printable(value))
	}
	d.text("Resource", printable(x.r.URL.Path))
	d.text("RequestId", x.id)
	d.text("HostId", x.id)
	x.writeDocument(failure.Status(), d)
}

// writeDocument sends an XML document.
func (x *exchange) writeDocument(status int, d *document) {
	b := d.finish()
	header := x.w.Header()
	header.Set("Content-Type", "application/xml")
	header.Set("Content-Length", strconv.Itoa(len(b)))
	x.writeStatus(status)
	if x.r.Method != http.MethodHead {
		x.stall(x.h.options.StallTimeout)
		n, _ := x.w.Write(b) // a client that went away is no error of ours
		x.sent += int64(n)
	}
}

// writeStatus sends the header.
func (x *exchange) writeStatus(status int) {
	x.status = status
	x.w.WriteHeader(status)
}

// stall lets a write to the client take at most the duration from now on; zero
// or less means for ever. Not every ResponseWriter can; a server's can.
func (x *exchange) stall(limit time.Duration) {
	if x.h.options.StallTimeout < 0 {
		return
	}
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit) //nolint:forbidigo // the network knows no other clock
	}
	_ = http.NewResponseController(x.w).SetWriteDeadline(deadline)
}

// stallingBody gives every read of a request's body the same time.
type stallingBody struct {
	io.Reader
	control *http.ResponseController
	limit   time.Duration
	next    time.Time // when to move the deadline on
}

// Read implements io.Reader.
func (b *stallingBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.After(b.next) { //nolint:forbidigo // the network knows no other clock
		_ = b.control.SetReadDeadline(now.Add(b.limit))
		b.next = now.Add(b.limit / 8)
	}
	n, err := b.Reader.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
