package s3

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// listParameters reads what all lists of objects take, and the form in which their
// names are sent.
func (x *exchange) listParameters() (l listing, encode func(string) string, err error) {
	l = listing{prefix: x.query.Get("prefix"), delimiter: x.query.Get("delimiter"), extensions: x.extensions()}
	if l.limit, err = x.limit("max-keys"); err != nil {
		return l, nil, err
	}
	encode, err = x.encoder()
	return l, encode, err
}

// limit reads the parameter that bounds a page; S3's most is 1000.
func (x *exchange) limit(name string) (int, error) {
	value := x.query.Get(name)
	if value == "" {
		return maxKeys, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 {
		return 0, s3err.LimitInvalid.New(value).Argument(name, value)
	}
	return int(min(n, maxKeys)), nil
}

// encoder returns the form in which a list's names are sent.
func (x *exchange) encoder() (encode func(string) string, err error) {
	switch kind := x.query.Get("encoding-type"); kind {
	case "":
		return func(s string) string { return s }, nil
	case "url":
		return func(s string) string { return auth.Escape(s, true) }, nil
	default:
		return nil, s3err.EncodingInvalid.New().Argument("encoding-type", kind)
	}
}

// listObjects serves ListObjects, the first version.
func (x *exchange) listObjects() error {
	l, encode, err := x.listParameters()
	if err != nil {
		return err
	}
	l.after = x.query.Get("marker")
	p, err := l.run(x.r.Context(), x.bucket.store)
	if err != nil {
		return err
	}
	d := newDocument("ListBucketResult", namespace)
	d.text("Name", x.bucketName)
	d.text("Prefix", encode(l.prefix))
	d.text("Marker", encode(l.after))
	d.number("MaxKeys", int64(l.limit))
	d.optional("Delimiter", encode(l.delimiter))
	d.flag("IsTruncated", p.truncated)
	if p.truncated {
		d.text("NextMarker", encode(p.last))
	}
	x.appendEntries(d, p, encode, true)
	x.writeDocument(http.StatusOK, d)
	return nil
}

// listObjectsV2 serves ListObjectsV2.
func (x *exchange) listObjectsV2() error {
	l, encode, err := x.listParameters()
	if err != nil {
		return err
	}
	startAfter := x.query.Get("start-after")
	token := x.query.Get("continuation-token")
	l.after = startAfter
	if x.query.Has("continuation-token") {
		if l.after, err = parseToken(token); err != nil {
			return err
		}
	}
	p, err := l.run(x.r.Context(), x.bucket.store)
	if err != nil {
		return err
	}
	d := newDocument("ListBucketResult", namespace)
	d.text("Name", x.bucketName)
	d.text("Prefix", encode(l.prefix))
	d.optional("StartAfter", encode(startAfter))
	d.optional("ContinuationToken", token)
	if p.truncated {
		d.text("NextContinuationToken", newToken(p.last))
	}
	d.number("KeyCount", int64(len(p.entries)))
	d.number("MaxKeys", int64(l.limit))
	d.optional("Delimiter", encode(l.delimiter))
	d.flag("IsTruncated", p.truncated)
	x.appendEntries(d, p, encode, x.query.Get("fetch-owner") == "true")
	x.writeDocument(http.StatusOK, d)
	return nil
}

// A continuation token is the name of the last entry, so that it outlives a
// restart; clients must not rely on that.
func newToken(last string) string { return base64.RawURLEncoding.EncodeToString([]byte(last)) }

func parseToken(token string) (string, error) {
	last, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(last) == 0 {
		return "", s3err.ContinuationTokenInvalid.New()
	}
	return string(last), nil
}

// appendEntries adds the objects, then the common prefixes.
func (x *exchange) appendEntries(d *document, p page, encode func(string) string, owner bool) {
	if encoding := x.query.Get("encoding-type"); encoding != "" {
		d.text("EncodingType", encoding)
	}
	for _, e := range p.entries {
		if e.prefix == "" {
			d.open("Contents")
			x.appendObject(d, e.meta, encode)
			if owner {
				d.user("Owner", x.owner())
			}
			d.close("Contents")
		}
	}
	appendPrefixes(d, p, encode)
}

func (x *exchange) appendObject(d *document, meta objectstore.ObjectMeta, encode func(string) string) {
	d.text("Key", encode(string(meta.Path)))
	d.time("LastModified", meta.LastModified)
	d.etag(meta.ETag)
	d.number("Size", meta.Size)
	d.text("StorageClass", defaultStorageClass)
}

func appendPrefixes(d *document, p page, encode func(string) string) {
	for _, e := range p.entries {
		if e.prefix != "" {
			d.open("CommonPrefixes")
			d.text("Prefix", encode(e.prefix))
			d.close("CommonPrefixes")
		}
	}
}
