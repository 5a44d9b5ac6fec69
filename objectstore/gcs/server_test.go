package gcs_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/stardustdb/stardust/internal/gcstest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/gcs"
)

func TestUploadsOfMorePartsThanOneJoinTakesAreJoinedInSteps(t *testing.T) {
	s := open(t, gcstest.Start(t), "bucket")
	const parts = 32*32 + 40 // three levels of joins
	upload, err := s.PutMultipart(t.Context(), "object", &objectstore.MultipartOptions{
		Mode: objectstore.Create, Attributes: objectstore.Attributes{ContentType: "text/x-parts"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range parts {
		text := fmt.Sprintf("part %d;", i)
		want.WriteString(text)
		if err := upload.PutPart(t.Context(), i+1, objectstore.Bytes([]byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	result, err := upload.Complete(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, meta, err := objectstore.ReadAll(t.Context(), s, "object")
	if err != nil || string(got) != want.String() || meta.ETag != result.ETag {
		t.Fatalf("holds %d bytes of %d, ETag %q, %v", len(got), want.Len(), meta.ETag, err)
	}
	for upload, err := range s.ListMultiparts(t.Context(), "") {
		t.Fatalf("left %+v, %v", upload, err)
	}
}

func TestThePartsOfUploadsAreOutOfReach(t *testing.T) {
	s := open(t, gcstest.Start(t), "bucket")
	id, err := s.CreateMultipart(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	path := objectstore.Path(gcs.Reserved + id + "/begun")
	if _, err := s.Get(t.Context(), path, nil); !errors.Is(err, objectstore.ErrInvalidPath) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Put(t.Context(), path, objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrInvalidPath) {
		t.Errorf("put: %v", err)
	}
	if err := s.Delete(t.Context(), path); !errors.Is(err, objectstore.ErrInvalidPath) {
		t.Errorf("delete: %v", err)
	}
	for _, options := range []*objectstore.ListOptions{nil, {Prefix: gcs.Reserved}, {Prefix: string(path)}} {
		for meta, err := range s.List(t.Context(), options) {
			t.Errorf("listed %+v, %v", meta, err)
		}
		if level, err := s.ListWithDelimiter(t.Context(), options); err != nil || len(level.Objects)+len(level.CommonPrefixes) > 0 {
			t.Errorf("level %+v, %v", level, err)
		}
	}
}

func TestErrorsOfTheServiceAreTold(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":404,"message":"The specified bucket does not exist.","errors":[{"reason":"notFound"}]}}`)
	})
	if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, objectstore.ErrNoBucket) || errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("missing bucket: %v", err)
	}
	for status, want := range map[int]error{
		401: objectstore.ErrUnauthenticated, 403: objectstore.ErrPermissionDenied, 404: objectstore.ErrNotFound,
		412: objectstore.ErrPrecondition, 416: objectstore.ErrInvalidRange,
	} {
		s := fake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, want) || objectstore.IsTransient(err) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status := range []int{408, 429, 500, 502, 503, 504} {
		s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		_, err := s.Get(t.Context(), "object", nil)
		if !objectstore.IsTransient(err) || objectstore.RetryAfter(err).Seconds() != 7 {
			t.Errorf("%d: %v after %v", status, err, objectstore.RetryAfter(err))
		}
	}
	limited := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"code":403,"message":"slow down","errors":[{"reason":"rateLimitExceeded"}]}}`)
	})
	if _, err := limited.Get(t.Context(), "object", nil); !objectstore.IsTransient(err) {
		t.Errorf("rate limit: %v", err)
	}
}

// fake returns the store of a server that answers as handle does.
func fake(t *testing.T, handle http.HandlerFunc) *gcs.Store {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	s, err := gcs.New(t.Context(), gcs.Options{Bucket: "bucket", Endpoint: server.URL, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBytesDamagedOnTheWayAreNoticed(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, `{"generation":"7","size":"5","crc32c":"AAAAAA=="}`)
			return
		}
		w.Header().Set("X-Goog-Generation", "7")
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("X-Goog-Hash", "crc32c=AAAAAA==")
		_, _ = io.WriteString(w, "wrong")
	})
	if _, _, err := objectstore.ReadAll(t.Context(), s, "object"); !objectstore.IsTransient(err) {
		t.Errorf("read: %v", err)
	}
	for _, body := range []objectstore.Body{objectstore.Bytes([]byte("right")), objectstore.Stream(strings.NewReader("right"), 5)} {
		if _, err := s.Put(t.Context(), "object", body, nil); err == nil || !strings.Contains(err.Error(), "CRC32C") {
			t.Errorf("put: %v", err)
		}
	}
}

func TestAnswersCutShortAreErrors(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"connection cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		},
		"another range": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 50-54/100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "other")
		},
		"no generation": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Del("X-Goog-Generation")
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		},
	} {
		s := fake(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Goog-Generation", "7")
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			handle(w, r)
		})
		result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Range: objectstore.Bounded(0, 100)})
		if err == nil {
			_, err = io.ReadAll(result.Body)
			_ = result.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRequestsCarryTheirToken(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	s, err := gcs.New(t.Context(), gcs.Options{
		Bucket: "bucket", Endpoint: server.URL, Tokens: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, objectstore.ErrNotFound) || got != "Bearer secret" {
		t.Fatalf("sent %q, %v", got, err)
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	for _, options := range []gcs.Options{{}, {Bucket: "a/b"}, {Bucket: "b", Endpoint: "127.0.0.1:4443"}, {Bucket: "b", Endpoint: "ftp://x"}} {
		if _, err := gcs.New(t.Context(), options); !errors.Is(err, objectstore.ErrInvalidOption) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func TestTheEnvironmentNamesAnEmulator(t *testing.T) {
	t.Setenv(gcs.EmulatorVariable, "127.0.0.1:1")
	s, err := gcs.New(t.Context(), gcs.Options{Bucket: "b"})
	if err != nil || s.String() != "gs://b?endpoint=http://127.0.0.1:1" {
		t.Fatalf("%v, %v", s, err)
	}
}
