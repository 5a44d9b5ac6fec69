package s3

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// request is what a client asks for. Its methods read the parameters and headers
// that more than one operation has.
type request struct {
	r       *http.Request
	options *Options // of the Handler

	query      auth.Query
	bucketName string
	key        string
	path       objectstore.Path // key, validated; empty for bucket operations
	identity   auth.Identity
}

// allow asks whether the client may read or write a bucket or an object.
func (q *request) allow(bucket, key string, write bool) error {
	ask := q.options.Authorize
	if ask == nil || ask(q.context(), Access{AccessKey: q.identity.AccessKey, Bucket: bucket, Key: key, Write: write}) {
		return nil
	}
	return s3err.AccessDenied.New()
}

func (q *request) context() context.Context { return q.r.Context() }

// header returns a header of the request, "" when there is none. In a presigned
// URL a client may give any x-amz- header in the query instead.
func (q *request) header(name string) string {
	value, _ := q.lookup(name)
	return value
}

// lookup is header that also tells whether the header is there.
func (q *request) lookup(name string) (string, bool) {
	values := q.r.Header[name] // most names are given in canonical form
	if values == nil {
		values = q.r.Header.Values(name)
	}
	if len(values) > 0 {
		return values[0], true
	}
	if q.identity.Presigned {
		return q.query.LookupFold(name)
	}
	return "", false
}

// owner is who S3's documents name as the owner of all: the key that asks.
func (q *request) owner() string {
	if q.identity.AccessKey == "" {
		return "anonymous"
	}
	return q.identity.AccessKey
}

// extensions returns what the hook attaches to the Store's calls.
func (q *request) extensions() objectstore.Extensions {
	if q.options.Extensions == nil {
		return objectstore.Extensions{}
	}
	return q.options.Extensions(q.r, q.bucketName, q.path)
}

// subresource returns the first parameter that names one.
func (q *request) subresource(is func(string) bool) (string, bool) {
	for _, p := range q.query {
		if is(p.Key) {
			return p.Key, true
		}
	}
	return "", false
}

// location returns the URL of the object.
func (q *request) location() string {
	scheme := "http"
	if q.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + q.r.Host + auth.Escape(q.r.URL.Path, true)
}

// splitPath returns the bucket and key that a request is for, each empty
// when there is none. net/http has decoded the path, once.
func splitPath(r *http.Request, domain string) (bucket, key string) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if domain != "" {
		host, _, _ := strings.Cut(r.Host, ":")
		if name, ok := strings.CutSuffix(host, "."+domain); ok && name != "" {
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
