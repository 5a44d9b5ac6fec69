package s3

import (
	"net/http"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	metaPrefix = "x-amz-meta-"
	// reservedPrefix begins the metadata keys in which this package keeps
	// what an objectstore.Attributes has no field for. Clients cannot set
	// them and do not see them.
	reservedPrefix      = "stardust-s3-"
	reservedChecksum    = reservedPrefix + "checksum" // "CRC32 AAAAAA=="
	reservedParts       = reservedPrefix + "parts"    // see sizesText
	reservedExpires     = reservedPrefix + "expires"
	reservedClass       = reservedPrefix + "storage-class"
	reservedRedirect    = reservedPrefix + "website-redirect"
	maxMetadata         = 2 << 10 // bytes of all user metadata, S3's limit
	defaultContentType  = "binary/octet-stream"
	defaultStorageClass = "STANDARD"
)

// givenAttributes reads from the request's headers what to store with an object.
func (q *request) givenAttributes() (objectstore.Attributes, error) {
	a := objectstore.Attributes{
		ContentType:        q.r.Header.Get("Content-Type"),
		ContentEncoding:    contentEncoding(q.r.Header.Values("Content-Encoding")),
		ContentDisposition: q.r.Header.Get("Content-Disposition"),
		ContentLanguage:    q.r.Header.Get("Content-Language"),
		CacheControl:       q.r.Header.Get("Cache-Control"),
	}
	var err error
	if a.Metadata, err = q.userMetadata(); err != nil {
		return a, err
	}
	reserve(&a, reservedExpires, q.r.Header.Get("Expires"))
	class := q.header("X-Amz-Storage-Class")
	switch class {
	case "", defaultStorageClass:
	case "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER",
		"DEEP_ARCHIVE", "OUTPOSTS", "GLACIER_IR", "SNOW", "EXPRESS_ONEZONE":
		reserve(&a, reservedClass, class)
	default:
		return a, s3err.StorageClassInvalid.New()
	}
	redirect := q.header("X-Amz-Website-Redirect-Location")
	if redirect != "" && !strings.HasPrefix(redirect, "/") && !strings.HasPrefix(redirect, "http://") && !strings.HasPrefix(redirect, "https://") {
		return a, s3err.RedirectInvalid.New()
	}
	reserve(&a, reservedRedirect, redirect)
	return a, nil
}

// userMetadata reads the x-amz-meta- headers, or in a presigned URL parameters.
func (q *request) userMetadata() (map[string]string, error) {
	var metadata map[string]string
	total := 0
	add := func(key, value string) error {
		if strings.HasPrefix(key, reservedPrefix) {
			return s3err.MetadataReserved.New(reservedPrefix)
		}
		if total += len(key) + len(value); total > maxMetadata {
			return s3err.MetadataTooLarge.New().With("MaxSizeAllowed", "2048")
		}
		if metadata == nil {
			metadata = make(map[string]string)
		}
		metadata[key] = value
		return nil
	}
	for name, values := range q.r.Header {
		if key, ok := strings.CutPrefix(strings.ToLower(name), metaPrefix); ok && key != "" {
			if err := add(key, strings.Join(values, ",")); err != nil {
				return nil, err
			}
		}
	}
	if q.identity.Presigned {
		for _, p := range q.query {
			if key, ok := strings.CutPrefix(strings.ToLower(p.Key), metaPrefix); ok && key != "" {
				if err := add(key, p.Value); err != nil {
					return nil, err
				}
			}
		}
	}
	return metadata, nil
}

// reserve keeps a value under a reserved key, unless it is empty.
func reserve(a *objectstore.Attributes, key, value string) {
	if value == "" {
		return
	}
	if a.Metadata == nil {
		a.Metadata = make(map[string]string)
	}
	a.Metadata[key] = value
}

// reserveChecksum keeps a checksum from a header of the request. One in a
// trailer is known only after the Store got the attributes, unless the body was
// buffered.
func reserveChecksum(a *objectstore.Attributes, d checksum.Declared) {
	if d.Value != "" {
		reserve(a, reservedChecksum, objectSum{d.Algorithm, d.Value}.text())
	}
}

// storedChecksum returns the checksum that was kept with an object.
func storedChecksum(a objectstore.Attributes) (c checksum.Algorithm, value string, ok bool) {
	name, value, _ := strings.Cut(a.Metadata[reservedChecksum], " ")
	c, ok = checksum.Parse(name)
	return c, value, ok && value != ""
}

// withoutRedirect returns attributes as copies take them along: a website redirect
// stays behind.
func withoutRedirect(a objectstore.Attributes) objectstore.Attributes {
	if a.Metadata[reservedRedirect] != "" {
		a = a.Clone()
		delete(a.Metadata, reservedRedirect)
	}
	return a
}

// storageClass returns the class that was asked for, S3's default when none
// was.
func storageClass(a objectstore.Attributes) string {
	if class := a.Metadata[reservedClass]; class != "" {
		return class
	}
	return defaultStorageClass
}

// contentEncoding returns the header without "aws-chunked", which is about the
// request only.
func contentEncoding(values []string) string {
	var kept []string
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if item = strings.TrimSpace(item); item != "" && !strings.EqualFold(item, "aws-chunked") {
			kept = append(kept, item)
		}
	}
	return strings.Join(kept, ",")
}

// setObjectHeaders sets what describes an object in a response.
func setObjectHeaders(h http.Header, meta objectstore.ObjectMeta, a objectstore.Attributes) {
	contentType := a.ContentType
	if contentType == "" {
		contentType = defaultContentType
	}
	modified := ""
	if !meta.LastModified.IsZero() {
		modified = meta.LastModified.UTC().Format(http.TimeFormat)
	}
	for _, header := range [...]struct{ name, value string }{
		{"Content-Type", contentType},
		{"Last-Modified", modified},
		// Not the canonical "Etag": some clients look for S3's spelling, case
		// and all.
		{"ETag", document.ETag(meta.ETag)},
		{"Content-Encoding", a.ContentEncoding},
		{"Content-Disposition", a.ContentDisposition},
		{"Content-Language", a.ContentLanguage},
		{"Cache-Control", a.CacheControl},
		{"Expires", a.Metadata[reservedExpires]},
		{"X-Amz-Website-Redirect-Location", a.Metadata[reservedRedirect]},
		{"X-Amz-Storage-Class", a.Metadata[reservedClass]},
		{"X-Amz-Version-Id", meta.Version},
	} {
		if header.value != "" {
			h[header.name] = []string{header.value}
		}
	}
	for key, value := range a.Metadata {
		if !strings.HasPrefix(key, reservedPrefix) {
			h[metaPrefix+key] = []string{value}
		}
	}
}

// refuseUnsupported refuses headers that ask for what this endpoint does not do
// and that could do harm if ignored: encryption, locks, open access.
func (q *request) refuseUnsupported() error {
	if err := q.checkACL(); err != nil {
		return err
	}
	for _, name := range [...]string{
		"X-Amz-Server-Side-Encryption", "X-Amz-Server-Side-Encryption-Customer-Algorithm",
		"X-Amz-Server-Side-Encryption-Customer-Key", "X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id",
	} {
		if q.header(name) != "" {
			return s3err.NotImplemented.New().With("Header", name)
		}
	}
	mode, until, hold := q.header("X-Amz-Object-Lock-Mode"), q.header("X-Amz-Object-Lock-Retain-Until-Date"), q.header("X-Amz-Object-Lock-Legal-Hold")
	switch {
	case mode == "" && until == "" && hold == "":
		return nil
	case (mode == "") != (until == ""):
		return s3err.LockIncomplete.New()
	case hold != "" && hold != "ON" && hold != "OFF":
		return s3err.LegalHoldInvalid.New()
	case mode != "" && mode != "GOVERNANCE" && mode != "COMPLIANCE":
		return s3err.LockModeInvalid.New()
	}
	if until != "" {
		t, err := time.Parse(time.RFC3339, until)
		switch {
		case err != nil:
			return s3err.RetainDateInvalid.New()
		case t.Before(q.options.Clock()):
			return s3err.RetainDatePast.New()
		}
	}
	return s3err.LockNotConfigured.New()
}

// checksumOf returns a checksum as documents have it.
func checksumOf(c checksum.Algorithm, value string) document.Checksum {
	return document.Checksum{Value: document.NewElement(c.Element(), value), Kind: kindOf(value)}
}
