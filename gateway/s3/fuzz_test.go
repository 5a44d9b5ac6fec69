package s3

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// wantFailure fails unless err is one of this package's, so that a client is
// told something better than InternalError.
func wantFailure(t *testing.T, err error) {
	t.Helper()
	var failure *Failure
	if err != nil && !errors.As(err, &failure) {
		t.Errorf("%T %v is not a Failure", err, err)
	}
	if failure != nil && failure.Status() >= http.StatusInternalServerError && failure.Code() != "NotImplemented" {
		t.Errorf("%v blames the server", failure)
	}
}

func FuzzParseCopySource(f *testing.F) {
	for _, seed := range []string{"/bucket/key", "bucket/a%2Fb%20c?versionId=null", "%", "bucket", "bucket//", "b/%00", "b/é?versionId=a?versionId=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		source, err := parseCopySource(header)
		wantFailure(t, err)
		if err != nil {
			return
		}
		if source.bucket == "" || source.key == "" || strings.Contains(source.bucket, "/") {
			t.Errorf("%q is accepted as %+v", header, source)
		}
		again, err := parseCopySource(source.bucket + "/" + url.PathEscape(source.key))
		if err == nil && again.key != source.key {
			t.Errorf("%q: the key %q becomes %q", header, source.key, again.key)
		}
	})
}

func FuzzParseRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-1", "bytes=-5", "bytes=5-", "bytes=0-0,3-4", "bytes=9-1", "bytes=99999999999999999999-", "bytes=-0", "bytes= -1"} {
		f.Add(seed, int64(100))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		r := parseRange(header)
		if r == nil {
			return
		}
		start, end, err := r.Resolve(size)
		if err == nil && (start < 0 || end > size || start >= end) {
			t.Errorf("%q of %d bytes: [%d, %d)", header, size, start, end)
		}
		if err != nil && !errors.Is(err, objectstore.ErrInvalidRange) {
			t.Errorf("%q: %v", header, err)
		}
	})
}

func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`<Delete><Object><Key>a&amp;b</Key></Object><Quiet>true</Quiet></Delete>`))
	f.Add([]byte(`<?xml version="1.0"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>&#10;</Key></Object></Delete>`))
	f.Add([]byte(`<!DOCTYPE Delete [<!ENTITY a "b">]><Delete>&a;</Delete>`))
	f.Add([]byte(strings.Repeat("<Delete>", 100)))
	f.Add([]byte(`<Delete></Delete><Delete/>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		wantFailure(t, parseDocument(bytes.NewReader(body), "Delete", func(c xmlChild) error {
			if c.name() != "Object" {
				return c.skip()
			}
			var object struct{ Key string }
			err := c.decode(&object)
			if len(object.Key) > maxToken {
				t.Errorf("a key of %d bytes", len(object.Key))
			}
			return err
		}))
	})
}
