package s3

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// lists serve lists of objects, versions, parts and uploads.
type lists struct{ *exchange }

// listParameters reads what all lists of names take, and the form in which these are
// sent. most is the parameter that bounds a page.
func (q *request) listParameters(most string) (l listing, encode func(string) string, err error) {
	l = listing{
		prefix: q.query.Get("prefix"), delimiter: q.query.Get("delimiter"), extensions: q.extensions(),
		printed: q.query.Get("encoding-type") == "",
	}
	if l.limit, err = q.limit(most); err != nil {
		return l, nil, err
	}
	encode, err = q.encoder()
	return l, encode, err
}

// limit reads the parameter that bounds a page; S3's most is 1000.
func (q *request) limit(name string) (int, error) {
	value := q.query.Get(name)
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
func (q *request) encoder() (encode func(string) string, err error) {
	switch kind := q.query.Get("encoding-type"); kind {
	case "":
		return func(s string) string { return s }, nil
	case "url":
		return func(s string) string { return auth.Escape(s, true) }, nil
	default:
		return nil, s3err.EncodingInvalid.New().Argument("encoding-type", kind)
	}
}

// objects serves ListObjects, the first version.
func (x lists) objects() error {
	l, encode, err := x.listParameters("max-keys")
	if err != nil {
		return err
	}
	l.after = x.query.Get("marker")
	p, err := l.run(x.r.Context(), x.bucket.store)
	if err != nil {
		return err
	}
	d := document.ListObjects{
		Name: x.bucketName, Prefix: encode(l.prefix), Marker: encode(l.after), MaxKeys: l.limit,
		Delimiter: encode(l.delimiter), IsTruncated: p.truncated, EncodingType: x.query.Get("encoding-type"),
		Contents: p.objects(encode, document.NewOwner(x.owner())), CommonPrefixes: p.prefixes(encode),
	}
	if p.truncated {
		d.NextMarker = encode(p.last)
	}
	return x.writeDocument(http.StatusOK, d)
}

// objectsV2 serves ListObjectsV2.
func (x lists) objectsV2() error {
	l, encode, err := x.listParameters("max-keys")
	if err != nil {
		return err
	}
	l.printed = false // the token is in letters and digits
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
	d := document.ListObjectsV2{
		Name: x.bucketName, Prefix: encode(l.prefix), StartAfter: encode(startAfter), ContinuationToken: token,
		KeyCount: len(p.entries), MaxKeys: l.limit, Delimiter: encode(l.delimiter), IsTruncated: p.truncated,
		EncodingType: x.query.Get("encoding-type"), CommonPrefixes: p.prefixes(encode),
	}
	if p.truncated {
		d.NextContinuationToken = newToken(p.last)
	}
	var owner *document.Owner
	if x.query.Get("fetch-owner") == "true" {
		owner = document.NewOwner(x.owner())
	}
	d.Contents = p.objects(encode, owner)
	return x.writeDocument(http.StatusOK, d)
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

// objects returns the objects of the page as documents have them.
func (p page) objects(encode func(string) string, owner *document.Owner) []document.Object {
	var all []document.Object
	for _, e := range p.entries {
		if e.prefix == "" {
			all = append(all, document.Object{
				Key: encode(string(e.meta.Path)), LastModified: document.Time(e.meta.LastModified),
				ETag: document.ETag(e.meta.ETag), Size: e.meta.Size, StorageClass: defaultStorageClass, Owner: owner,
			})
		}
	}
	return all
}

// prefixes returns the common prefixes of the page as documents have them.
func (p page) prefixes(encode func(string) string) []document.CommonPrefix {
	var all []string
	for _, e := range p.entries {
		if e.prefix != "" {
			all = append(all, e.prefix)
		}
	}
	return commonPrefixes(all, encode)
}

func commonPrefixes(prefixes []string, encode func(string) string) []document.CommonPrefix {
	var all []document.CommonPrefix
	for _, prefix := range prefixes {
		all = append(all, document.CommonPrefix{Prefix: encode(prefix)})
	}
	return all
}
