package auth

import (
	"encoding/base64"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// wantFailure fails unless err is one of this package's, so that a client is
// told something better than InternalError.
func wantFailure(t *testing.T, err error) {
	t.Helper()
	var failure *s3err.Failure
	if err != nil && !errors.As(err, &failure) {
		t.Errorf("%T %v is not a Failure", err, err)
	}
	if failure != nil && failure.Status() >= http.StatusInternalServerError && failure.Code() != "NotImplemented" {
		t.Errorf("%v blames the server", failure)
	}
}

func FuzzParseAuthorization(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=AKID/20261202/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + strings.Repeat("0a", 32))
	f.Add("AWS AKID:c2ln")
	f.Add("AWS4-ECDSA-P256-SHA256 Credential=a/20261202/s3/aws4_request")
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/20261202/r/s3/aws4_request,SignedHeaders=host,Signature=" + strings.Repeat("F", 64))
	f.Fuzz(func(t *testing.T, header string) {
		a, err := parseAuthorization(header)
		wantFailure(t, err)
		if err == nil && (a.scope.accessKey == "" || a.scope.service != "s3" || len(a.signature) != 64 || len(a.signedHeaders) == 0) {
			t.Errorf("%q is accepted as %+v", header, a)
		}
	})
}

func FuzzParsePresigned(f *testing.F) {
	f.Add("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F20261202%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261202T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=" + strings.Repeat("0a", 32))
	f.Add("X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=-1")
	f.Add("=0")
	f.Add("a=b&&c&=d&%zz=1&a+b=%20")
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := ParseQuery(raw)
		wantFailure(t, err)
		if err != nil {
			return
		}
		// What is signed must mean the same when it is read again.
		again, err := ParseQuery(string(q.appendCanonical(nil, false)))
		if err != nil || len(again) != len(q) {
			t.Errorf("%q: canonical form has %d parameters, not %d, %v", raw, len(again), len(q), err)
		}
		_, err = parsePresigned(q)
		wantFailure(t, err)
	})
}

// FuzzChunkedReader: whatever the framing, a body that ends well has the bytes
// and the checksum that it says, and no other end is a good one.
func FuzzChunkedReader(f *testing.F) {
	sum := func(s string) string {
		b := crc32.ChecksumIEEE([]byte(s))
		return base64.StdEncoding.EncodeToString([]byte{byte(b >> 24), byte(b >> 16), byte(b >> 8), byte(b)})
	}
	f.Add("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:"+sum("hello")+"\r\n\r\n", 5)
	f.Add("3\r\nhel\r\n2\r\nlo\r\n0\r\nx-amz-checksum-crc32:"+sum("hello")+"\n\r\n", 5)
	f.Add("0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", 0)
	f.Add("FFFFFFFFFFFFFFFF\r\n", 5)
	f.Add("5;chunk-signature=0\r\nhello\r\n0\r\n\r\n", 5)
	f.Fuzz(func(t *testing.T, body string, size int) {
		if size < 0 {
			return
		}
		r := httptest.NewRequest(http.MethodPut, "/b/k", strings.NewReader(body))
		r.Header.Set("X-Amz-Decoded-Content-Length", strconv.Itoa(size))
		r.Header.Set("X-Amz-Trailer", "x-amz-checksum-crc32")
		p, err := Identity{payload: unsignedChunksTrailer}.Payload(r, r.Body, func(name string) (string, bool) {
			v, ok := r.Header[http.CanonicalHeaderKey(name)]
			return strings.Join(v, ""), ok
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p)
		if err != nil {
			wantFailure(t, err)
			return
		}
		if len(got) != size || p.chunks.trailers["x-amz-checksum-crc32"] != sum(string(got)) {
			t.Errorf("%q ends well with %d of %d bytes and trailer %v", body, len(got), size, p.chunks.trailers)
		}
	})
}
