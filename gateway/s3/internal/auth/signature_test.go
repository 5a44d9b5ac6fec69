package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// The examples of Amazon's documentation "Signature Calculations for the
// Authorization Header" and "Authenticating Requests: Using Query Parameters".
const (
	exampleAccess = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	exampleScope  = "Credential=" + exampleAccess + "/20130524/us-east-1/s3/aws4_request"
)

func exampleVerifier(t *testing.T, now string) *Verifier {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		t.Fatal(err)
	}
	return NewVerifier(Options{
		Secrets: map[string]string{exampleAccess: exampleSecret},
		Region:  "us-east-1",
		Clock:   func() time.Time { return at },
	})
}

func authenticateRequest(v *Verifier, r *http.Request) (Identity, error) {
	q, err := ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Identity{}, err
	}
	return v.Verify(r, q)
}

// codeOf returns S3's code of an error, "" for another one.
func codeOf(err error) string {
	if failure, ok := errors.AsType[*s3err.Failure](err); ok {
		return failure.Code()
	}
	return ""
}

func exampleRequest(method, target, signedHeaders, signature string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "http://examplebucket.s3.amazonaws.com"+target, nil)
	r.Header.Set("X-Amz-Date", "20130524T000000Z")
	r.Header.Set("X-Amz-Content-Sha256", emptySHA256)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Header.Set("Authorization", signAlgorithm+" "+exampleScope+",SignedHeaders="+signedHeaders+",Signature="+signature)
	return r
}

func TestSignaturesOfTheDocumentation(t *testing.T) {
	v := exampleVerifier(t, "2013-05-24T00:10:00Z")
	for name, r := range map[string]*http.Request{
		"GET Object": exampleRequest(http.MethodGet, "/test.txt", "host;range;x-amz-content-sha256;x-amz-date",
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range", "bytes=0-9"),
		"PUT Object": exampleRequest(http.MethodPut, "/test$file.text", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
			"Date", "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class", "REDUCED_REDUNDANCY",
			"X-Amz-Content-Sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"),
		"GET Bucket Lifecycle": exampleRequest(http.MethodGet, "/?lifecycle", "host;x-amz-content-sha256;x-amz-date",
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
		"List Objects": exampleRequest(http.MethodGet, "/?max-keys=2&prefix=J", "host;x-amz-content-sha256;x-amz-date",
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
	} {
		if name == "PUT Object" {
			r.ContentLength = 10
		}
		id, err := authenticateRequest(v, r)
		if err != nil || id.AccessKey != exampleAccess {
			t.Errorf("%s: %v", name, err)
		}
	}
	presigned := httptest.NewRequest(http.MethodGet, "http://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404", nil)
	if id, err := authenticateRequest(v, presigned); err != nil || !id.Presigned {
		t.Errorf("presigned: %v", err)
	}
}

// TestEveryPartOfARequestIsSigned changes one thing at a time.
func TestEveryPartOfARequestIsSigned(t *testing.T) {
	v := exampleVerifier(t, "2013-05-24T00:10:00Z")
	good := func() *http.Request {
		return exampleRequest(http.MethodGet, "/test.txt", "host;range;x-amz-content-sha256;x-amz-date",
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "Range", "bytes=0-9")
	}
	if _, err := authenticateRequest(v, good()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, code string
		change     func(r *http.Request)
	}{
		{"method", "SignatureDoesNotMatch", func(r *http.Request) { r.Method = http.MethodDelete }},
		{"path", "SignatureDoesNotMatch", func(r *http.Request) { r.URL.Path = "/test.txt/" }},
		{"query", "SignatureDoesNotMatch", func(r *http.Request) { r.URL.RawQuery = "acl" }},
		{"host", "SignatureDoesNotMatch", func(r *http.Request) { r.Host = "other" }},
		{"signed header", "SignatureDoesNotMatch", func(r *http.Request) { r.Header.Set("Range", "bytes=0-8") }},
		{"payload hash", "SignatureDoesNotMatch", func(r *http.Request) { r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") }},
		{"unsigned x-amz- header", "AccessDenied", func(r *http.Request) { r.Header.Set("X-Amz-Copy-Source", "/a/b") }},
		{"date", "SignatureDoesNotMatch", func(r *http.Request) { r.Header.Set("X-Amz-Date", "20130524T000001Z") }},
		{"no date", "AccessDenied", func(r *http.Request) { r.Header.Del("X-Amz-Date") }},
		{"no payload hash", "InvalidRequest", func(r *http.Request) { r.Header.Del("X-Amz-Content-Sha256") }},
		{"signature", "SignatureDoesNotMatch", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "=f0", "=f1", 1))
		}},
		{"access key", "InvalidAccessKeyId", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), exampleAccess, "OTHER", 1))
		}},
		{"region", "AuthorizationHeaderMalformed", func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "us-east-1", "eu-west-1", 1))
		}},
		{"version 2", "InvalidRequest", func(r *http.Request) { r.Header.Set("Authorization", "AWS AKID:c2lnbmF0dXJl") }},
		{"none", "AccessDenied", func(r *http.Request) { r.Header.Del("Authorization") }},
		{"two", "InvalidArgument", func(r *http.Request) { r.URL.RawQuery = "X-Amz-Signature=1" }},
	} {
		r := good()
		test.change(r)
		if _, err := authenticateRequest(v, r); err == nil || codeOf(err) != test.code {
			t.Errorf("%s changed: %v, want %s", test.name, err, test.code)
		}
	}
}

func TestClockSkewAndExpiry(t *testing.T) {
	r := exampleRequest(http.MethodGet, "/?lifecycle", "host;x-amz-content-sha256;x-amz-date",
		"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
	presigned := httptest.NewRequest(http.MethodGet, "http://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404", nil)
	for _, test := range []struct {
		now, header, presigned string // the codes, empty for a success
	}{
		{"2013-05-23T23:44:59Z", "RequestTimeTooSkewed", "AccessDenied"},
		{"2013-05-23T23:45:00Z", "", ""},
		{"2013-05-24T00:15:00Z", "", ""},
		{"2013-05-24T00:15:01Z", "RequestTimeTooSkewed", ""},
		{"2013-05-25T00:00:00Z", "RequestTimeTooSkewed", ""},
		{"2013-05-25T00:00:01Z", "RequestTimeTooSkewed", "AccessDenied"},
	} {
		v := exampleVerifier(t, test.now)
		for want, r := range map[*string]*http.Request{&test.header: r, &test.presigned: presigned} {
			code := ""
			if _, err := authenticateRequest(v, r); err != nil {
				code = codeOf(err)
			}
			if code != *want {
				t.Errorf("at %s: %q, want %q", test.now, code, *want)
			}
		}
	}
}

func TestKeyCacheIsBoundedAndRight(t *testing.T) {
	c := newKeyCache(map[string]string{"a": "secret"})
	for i := range 3 * maxCachedKeys {
		s := scope{"a", "20130524", strings.Repeat("r", i+1), "s3"}
		key, ok := c.key(s)
		if !ok || key.key != deriveKey("secret", s).key {
			t.Fatalf("wrong key for scope %d", i)
		}
		if len(c.keys) > maxCachedKeys {
			t.Fatalf("%d keys cached", len(c.keys))
		}
	}
	if _, ok := c.key(scope{accessKey: "unknown"}); ok {
		t.Error("a key for an unknown access key")
	}
}

func TestHeaderValuesAreFolded(t *testing.T) {
	for in, want := range map[string]string{"  a  b\t c ": "a b c", "": "", "a: b": "a: b", " , x": ", x", "\"a   b\"": "\"a b\""} {
		if got := string(appendFolded([]byte("name:"), in)); got != "name:"+want {
			t.Errorf("%q folds to %q, want %q", in, got, "name:"+want)
		}
	}
}
