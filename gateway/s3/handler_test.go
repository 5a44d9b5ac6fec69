package s3_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// answered is what a client sees of an error.
type answered struct {
	Code, Message, Key, RequestId, Resource string
	status                                  int
	header                                  http.Header
	body                                    []byte
}

func do(t *testing.T, r *http.Request) answered {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	a := answered{status: response.StatusCode, header: response.Header}
	if a.body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode >= 400 && len(a.body) > 0 {
		if err := xml.Unmarshal(a.body, &a); err != nil {
			t.Errorf("%s\nis no XML: %v", a.body, err)
		}
	}
	return a
}

// plain returns an unsigned request.
func plain(t *testing.T, e *endpoint, method, target string, body io.Reader, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, e.url+target, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestErrorsAreThoseOfS3(t *testing.T) {
	store := memory.New(nil)
	if _, err := store.Put(t.Context(), "key", objectstore.Bytes([]byte("hello")), nil); err != nil {
		t.Fatal(err)
	}
	e := start(t, store, s3.Options{Anonymous: true, MaxPutSize: 1000})
	const base = "/" + testBucket
	long := strings.Repeat("k", 1025)
	for _, test := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		code                       string
	}{
		{"missing key", "GET", base + "/missing", "", nil, 404, "NoSuchKey"},
		{"missing bucket", "GET", "/no-such-bucket/key", "", nil, 404, "NoSuchBucket"},
		{"missing bucket, list", "GET", "/no-such-bucket?list-type=2", "", nil, 404, "NoSuchBucket"},
		{"bad bucket name", "PUT", "/A_b", "", nil, 400, "InvalidBucketName"},
		{"no bucket", "PUT", "/", "", nil, 405, "MethodNotAllowed"},
		{"our bucket again", "PUT", base, "", nil, 409, "BucketAlreadyOwnedByYou"},
		{"another bucket", "PUT", "/another-bucket", "", nil, 403, "AccessDenied"},
		{"delete bucket", "DELETE", base, "", nil, 403, "AccessDenied"},
		{"long key", "PUT", base + "/" + long, "", nil, 400, "KeyTooLongError"},
		{"NUL in the key", "GET", base + "/a%00b", "", nil, 400, "InvalidArgument"},
		{"key is no UTF-8", "GET", base + "/%ff", "", nil, 400, "InvalidArgument"},
		{"method", "PATCH", base + "/key", "", nil, 405, "MethodNotAllowed"},
		{"range", "GET", base + "/key", "", []string{"Range", "bytes=5-"}, 416, "InvalidRange"},
		{"too large", "PUT", base + "/new", strings.Repeat("x", 1001), nil, 400, "EntityTooLarge"},
		{"Content-MD5", "PUT", base + "/new", "x", []string{"Content-Md5", "AAAAAAAAAAAAAAAAAAAAAA=="}, 400, "BadDigest"},
		{"no Content-MD5", "PUT", base + "/new", "x", []string{"Content-Md5", "AA"}, 400, "InvalidDigest"},
		{"digest", "PUT", base + "/new", "x", []string{"X-Amz-Content-Sha256", strings.Repeat("0", 64)}, 400, "XAmzContentSHA256Mismatch"},
		{"no digest", "PUT", base + "/new", "x", []string{"X-Amz-Content-Sha256", "x"}, 400, "InvalidArgument"},
		{"two checksums", "PUT", base + "/new", "x", []string{"X-Amz-Checksum-Crc32", "AAAAAA==", "X-Amz-Checksum-Crc32c", "AAAAAA=="}, 400, "InvalidRequest"},
		{"checksum", "PUT", base + "/new", "x", []string{"X-Amz-Checksum-Crc32", "AAAAAA=="}, 400, "BadDigest"},
		{"signed chunks, unsigned", "PUT", base + "/new", "x", []string{"X-Amz-Content-Sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "X-Amz-Decoded-Content-Length", "1"}, 403, "AccessDenied"},
		{"chunks without length", "PUT", base + "/new", "x", []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 411, "MissingContentLength"},
		{"encryption", "PUT", base + "/new", "x", []string{"X-Amz-Server-Side-Encryption", "AES256"}, 501, "NotImplemented"},
		{"open access", "PUT", base + "/new", "x", []string{"X-Amz-Acl", "public-read"}, 400, "AccessControlListNotSupported"},
		{"lock", "PUT", base + "/new", "x", []string{"X-Amz-Object-Lock-Legal-Hold", "ON"}, 400, "InvalidRequest"},
		{"class", "PUT", base + "/new", "x", []string{"X-Amz-Storage-Class", "GOLD"}, 400, "InvalidStorageClass"},
		{"metadata", "PUT", base + "/new", "x", []string{"X-Amz-Meta-A", strings.Repeat("x", 2048)}, 400, "MetadataTooLarge"},
		{"create", "PUT", base + "/key", "x", []string{"If-None-Match", "*"}, 412, "PreconditionFailed"},
		{"other condition", "PUT", base + "/key", "x", []string{"If-None-Match", `"e"`}, 501, "NotImplemented"},
		{"tags", "PUT", base + "/new", "x", []string{"X-Amz-Tagging", "a=1&a=2"}, 400, "InvalidArgument"},
		{"no upload", "PUT", base + "/key?uploadId=none&partNumber=1", "x", nil, 404, "NoSuchUpload"},
		{"part number", "PUT", base + "/key?uploadId=none&partNumber=10001", "x", nil, 400, "InvalidArgument"},
		{"abort nothing", "DELETE", base + "/key?uploadId=none", "", nil, 404, "NoSuchUpload"},
		{"complete nothing", "POST", base + "/key?uploadId=none", "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>", nil, 404, "NoSuchUpload"},
		{"complete without parts", "POST", base + "/key?uploadId=none", "<CompleteMultipartUpload/>", nil, 400, "MalformedXML"},
		{"complete with no XML", "POST", base + "/key?uploadId=none", "{}", nil, 400, "MalformedXML"},
		{"delete without digest", "POST", base + "?delete", "<Delete/>", nil, 400, "InvalidRequest"},
		{"delete with a wrong digest", "POST", base + "?delete", "<Delete/>", []string{"X-Amz-Content-Sha256", strings.Repeat("0", 64)}, 400, "XAmzContentSHA256Mismatch"},
		{"delete with a document type", "POST", base + "?delete", "<!DOCTYPE a><Delete/>", []string{"X-Amz-Checksum-Sha256", "zpjhL6a4NSE9BgoE6UXRbt/dA0iPl8qiD96Bd8AVuGw="}, 400, "BadDigest"},
		{"copy of nothing", "PUT", base + "/new", "", []string{"X-Amz-Copy-Source", base + "/missing"}, 404, "NoSuchKey"},
		{"copy source", "PUT", base + "/new", "", []string{"X-Amz-Copy-Source", "nokey"}, 400, "InvalidArgument"},
		{"copy to itself", "PUT", base + "/key", "", []string{"X-Amz-Copy-Source", base + "/key"}, 400, "InvalidRequest"},
		{"token", "GET", base + "?list-type=2&continuation-token=!", "", nil, 400, "InvalidArgument"},
		{"max-keys", "GET", base + "?max-keys=-1", "", nil, 400, "InvalidArgument"},
		{"encoding", "GET", base + "?encoding-type=rot13", "", nil, 400, "InvalidArgument"},
		{"query", "GET", base + "?a=%zz", "", nil, 400, "InvalidURI"},
		{"override, unsigned", "GET", base + "/key?response-content-type=a", "", nil, 400, "InvalidRequest"},
		{"policy", "GET", base + "?policy", "", nil, 404, "NoSuchBucketPolicy"},
		{"lifecycle", "GET", base + "?lifecycle", "", nil, 404, "NoSuchLifecycleConfiguration"},
		{"put lifecycle", "PUT", base + "?lifecycle", "", nil, 501, "NotImplemented"},
		{"torrent", "GET", base + "/key?torrent", "", nil, 501, "NotImplemented"},
	} {
		a := do(t, plain(t, e, test.method, test.target, strings.NewReader(test.body), test.headers...))
		if a.status != test.status || a.Code != test.code || a.Message == "" || a.RequestId == "" {
			t.Errorf("%s: %d %s %q (request %s), want %d %s", test.name, a.status, a.Code, a.Message, a.RequestId, test.status, test.code)
		}
		if a.RequestId != a.header.Get("X-Amz-Request-Id") {
			t.Errorf("%s: request id %q in the document, %q in the header", test.name, a.RequestId, a.header.Get("X-Amz-Request-Id"))
		}
	}
	for object, err := range store.List(t.Context(), nil) {
		if err != nil || object.Path != "key" {
			t.Errorf("a refused request left %q, %v", object.Path, err)
		}
	}
}

func TestHeadErrorsHaveNoBody(t *testing.T) {
	e := start(t, memory.New(nil), s3.Options{Anonymous: true})
	a := do(t, plain(t, e, http.MethodHead, "/"+testBucket+"/missing", nil))
	if a.status != http.StatusNotFound || len(a.body) > 0 {
		t.Errorf("%d with %d bytes", a.status, len(a.body))
	}
}

// TestCutBodyStoresNothing: a connection that ends in the middle of a body,
// buffered or streamed, leaves the old object.
func TestCutBodyStoresNothing(t *testing.T) {
	for _, size := range []int{1000, 1 << 20} {
		store := memory.New(nil)
		if _, err := store.Put(t.Context(), "key", objectstore.Bytes([]byte("old")), nil); err != nil {
			t.Fatal(err)
		}
		seen := make(chan s3.Observation, 1)
		e := start(t, store, s3.Options{Anonymous: true, Observe: func(o s3.Observation) { seen <- o }})
		conn, err := net.Dial("tcp", hostOf(t, e.url))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "PUT /%s/key HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", testBucket, size, strings.Repeat("x", size/2))
		_ = conn.Close()
		if o := <-seen; o.Code != "IncompleteBody" {
			t.Errorf("%d bytes: %s, want IncompleteBody: %v", size, o.Code, o.Err)
		}
		if data, _, err := objectstore.ReadAll(t.Context(), store, "key"); err != nil || string(data) != "old" {
			t.Errorf("%d bytes: the object is %d bytes, %v", size, len(data), err)
		}
	}
}

// brokenStore returns bodies that end too early.
type brokenStore struct{ objectstore.Store }

func (b brokenStore) Get(ctx context.Context, path objectstore.Path, o *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := b.Store.Get(ctx, path, o)
	if err == nil && result.Body != nil {
		result.Body = io.NopCloser(io.MultiReader(io.LimitReader(result.Body, 100), failingReader{}))
	}
	return result, err
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

// TestBrokenBodyBreaksTheConnection: a client can't take half for the whole.
func TestBrokenBodyBreaksTheConnection(t *testing.T) {
	inner := memory.New(nil)
	if _, err := inner.Put(t.Context(), "key", objectstore.Bytes(make([]byte, 200_000)), nil); err != nil {
		t.Fatal(err)
	}
	secure, client := startTLS(t, brokenStore{inner}, s3.Options{Anonymous: true})
	open := start(t, brokenStore{inner}, s3.Options{Anonymous: true})
	for name, get := range map[string]func() (*http.Response, error){
		"HTTP/1.1": func() (*http.Response, error) { return http.Get(open.url + "/" + testBucket + "/key") },
		"HTTP/2":   func() (*http.Response, error) { return client.Get(secure.url + "/" + testBucket + "/key") },
	} {
		response, err := get()
		if err != nil {
			continue // broken before the header was sent
		}
		n, err := io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err == nil {
			t.Errorf("%s: %d bytes and no error", name, n)
		}
	}
}

// gate is a store whose Get waits.
type gate struct {
	objectstore.Store
	entered, leave chan struct{}
}

func (g gate) Get(ctx context.Context, path objectstore.Path, o *objectstore.GetOptions) (*objectstore.GetResult, error) {
	g.entered <- struct{}{}
	<-g.leave
	return g.Store.Get(ctx, path, o)
}

func TestOverloadIsToldToSlowDown(t *testing.T) {
	store := gate{memory.New(nil), make(chan struct{}), make(chan struct{})}
	e := start(t, store, s3.Options{Anonymous: true, MaxConcurrentRequests: 2})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { _ = do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/k", nil)) })
	}
	<-store.entered
	<-store.entered
	if a := do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/k", nil)); a.status != 503 || a.Code != "SlowDown" || a.header.Get("Retry-After") == "" {
		t.Errorf("the third of two: %d %s", a.status, a.Code)
	}
	close(store.leave)
	wg.Wait()
}

func TestVirtualHostStyle(t *testing.T) {
	store := memory.New(nil)
	if _, err := store.Put(t.Context(), "a/b", objectstore.Bytes([]byte("hello")), nil); err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, store, s3.Options{Anonymous: true, Domain: "s3.example"})
	for _, target := range []string{"http://" + testBucket + ".s3.example:9000/a/b", "http://s3.example/" + testBucket + "/a/b", "http://other/" + testBucket + "/a/b"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != 200 || w.Body.String() != "hello" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// tag is an extension of a layer above.
type tag string

// tagStore records the tags of what it is asked.
type tagStore struct {
	objectstore.Store
	mu   sync.Mutex
	tags []tag
}

func (s *tagStore) Get(ctx context.Context, path objectstore.Path, o *objectstore.GetOptions) (*objectstore.GetResult, error) {
	value, _ := objectstore.ExtensionOf[tag](o.Extensions)
	s.mu.Lock()
	s.tags = append(s.tags, value)
	s.mu.Unlock()
	return s.Store.Get(ctx, path, o)
}

func (s *tagStore) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, o *objectstore.PutOptions) (*objectstore.PutResult, error) {
	value, _ := objectstore.ExtensionOf[tag](o.Extensions)
	s.mu.Lock()
	s.tags = append(s.tags, value)
	s.mu.Unlock()
	return s.Store.Put(ctx, path, body, o)
}

func TestHooksSeeEveryRequest(t *testing.T) {
	store := &tagStore{Store: memory.New(nil)}
	var mu sync.Mutex
	var seen []s3.Observation
	e := start(t, store, s3.Options{
		Anonymous: true,
		Extensions: func(_ *http.Request, bucket string, path objectstore.Path) objectstore.Extensions {
			return objectstore.WithExtension(objectstore.Extensions{}, tag(bucket+":"+string(path)))
		},
		Observe: func(o s3.Observation) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, o)
		},
	})
	_ = do(t, plain(t, e, http.MethodPut, "/"+testBucket+"/a/b", strings.NewReader("hello")))
	_ = do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/a/b", nil))
	_ = do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/c", nil))
	if want := tag(testBucket + ":a/b"); len(store.tags) != 3 || store.tags[0] != want || store.tags[1] != want {
		t.Errorf("extensions: %q", store.tags)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 3 || seen[0].Operation != "PutObject" || seen[0].Received != 5 || seen[1].Sent != 5 || seen[2].Code != "NoSuchKey" || seen[1].Status != 200 {
		t.Errorf("observations: %+v", seen)
	}
}

// TestOneOfRacingCreatesWins: create-only PUTs of one key, through the
// endpoint.
func TestOneOfRacingCreatesWins(t *testing.T) {
	for name, store := range stores(t) {
		e := start(t, store, s3.Options{Anonymous: true})
		var wg sync.WaitGroup
		var mu sync.Mutex
		statuses := map[int]int{}
		for i := range 16 {
			wg.Go(func() {
				a := do(t, plain(t, e, http.MethodPut, "/"+testBucket+"/one", strings.NewReader(fmt.Sprint(i)), "If-None-Match", "*"))
				mu.Lock()
				defer mu.Unlock()
				statuses[a.status]++
			})
		}
		wg.Wait()
		if statuses[200] != 1 || statuses[412] != 15 {
			t.Errorf("%s: %v", name, statuses)
		}
	}
}

// TestStalledClientIsLetGo: neither a client that sends nothing more nor one
// that takes nothing holds a request for ever.
func TestStalledClientIsLetGo(t *testing.T) {
	store := memory.New(nil)
	if _, err := store.Put(t.Context(), "large", objectstore.Bytes(make([]byte, 64<<20)), nil); err != nil {
		t.Fatal(err)
	}
	seen := make(chan s3.Observation, 2)
	e := start(t, store, s3.Options{Anonymous: true, StallTimeout: 50 * time.Millisecond, Observe: func(o s3.Observation) { seen <- o }})
	for _, request := range []string{
		"PUT /" + testBucket + "/key HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nstart",
		"GET /" + testBucket + "/large HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", hostOf(t, e.url))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		if o := <-seen; o.Code != "RequestTimeout" {
			t.Errorf("%q: %s, want RequestTimeout: %v", request, o.Code, o.Err)
		}
		_ = conn.Close()
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	store := memory.New(nil)
	keys := map[string]string{"a": "b"}
	for name, test := range map[string]struct {
		store   objectstore.Store
		options s3.Options
	}{
		"no bucket":        {nil, s3.Options{Credentials: keys}},
		"no name":          {store, s3.Options{Credentials: keys}},
		"no keys":          {store, s3.Options{Bucket: "bucket"}},
		"empty secret":     {store, s3.Options{Bucket: "bucket", Credentials: map[string]string{"a": ""}}},
		"bad name":         {store, s3.Options{Bucket: "Bucket", Credentials: keys}},
		"name of an IP":    {store, s3.Options{Bucket: "127.0.0.1", Credentials: keys}},
		"nil store":        {nil, s3.Options{Buckets: map[string]objectstore.Store{"bucket": nil}, Credentials: keys}},
		"the same twice":   {store, s3.Options{Bucket: "bucket", Buckets: map[string]objectstore.Store{"bucket": store}, Credentials: keys}},
		"a negative limit": {store, s3.Options{Bucket: "bucket", Credentials: keys, MaxConcurrentRequests: -1}},
	} {
		if _, err := s3.NewHandler(test.store, test.options); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFileBodiesAreSentWhole: the paths of small and large files, ranges of
// them, with and without sendfile.
func TestFileBodiesAreSentWhole(t *testing.T) {
	store := stores(t)["file"]
	data := random(t, 20<<20)
	if _, err := store.Put(t.Context(), "file", objectstore.Bytes(data), nil); err != nil {
		t.Fatal(err)
	}
	e := start(t, store, s3.Options{Anonymous: true})
	for _, test := range [][2]int{{0, len(data)}, {5, 9}, {1 << 20, 1<<20 + 64<<10}, {1 << 20, 1<<20 + 64<<10 + 1}, {7, 17 << 20}, {len(data) - 1, len(data)}} {
		a := do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/file", nil, "Range", fmt.Sprintf("bytes=%d-%d", test[0], test[1]-1)))
		if a.status != http.StatusPartialContent || !bytes.Equal(a.body, data[test[0]:test[1]]) {
			t.Errorf("%v: %d with %d bytes", test, a.status, len(a.body))
		}
	}
}

func TestMemoryForXMLBodiesIsBounded(t *testing.T) {
	e := start(t, memory.New(nil), s3.Options{Anonymous: true, MaxBufferedBytes: 1 << 20})
	// The first of two large bodies holds its memory until it has come.
	hold, first := io.Pipe()
	held := plain(t, e, http.MethodPost, "/"+testBucket+"?delete", hold, "Content-Md5", "1B2M2Y8AsgTpgAmY7PhCfg==")
	held.ContentLength = 1 << 20
	done := make(chan struct{})
	go func() {
		defer close(done)
		if response, err := http.DefaultTransport.RoundTrip(held); err == nil {
			_ = response.Body.Close()
		}
	}()
	if _, err := first.Write([]byte("<Delete>" + strings.Repeat(" ", 8<<10))); err != nil {
		t.Fatal(err)
	}
	body := "<Delete><Object><Key>k</Key></Object>" + strings.Repeat("<a/> ", 20<<10) + "</Delete>"
	digest := md5.Sum([]byte(body))
	second := func() answered {
		return do(t, plain(t, e, http.MethodPost, "/"+testBucket+"?delete", strings.NewReader(body),
			"Content-Md5", base64.StdEncoding.EncodeToString(digest[:])))
	}
	for a := second(); ; a = second() { // until the server has taken the first
		if a.Code == "SlowDown" && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" {
			break
		}
		if a.status != http.StatusOK {
			t.Fatalf("%+v", a)
		}
	}
	_ = first.CloseWithError(io.ErrUnexpectedEOF)
	<-done
	for a := second(); a.status != http.StatusOK; a = second() {
		if a.Code != "SlowDown" {
			t.Fatalf("the memory does not come back: %+v", a)
		}
	}
}
