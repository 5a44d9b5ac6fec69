package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/s3"
)

func TestLargeObjectsAreCopiedByRanges(t *testing.T) {
	server := s3test.Start(t, nil)
	s, err := s3.New(t.Context(), s3.Options{
		Bucket: server.Bucket(t, "bucket"), Endpoint: server.Endpoint, AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
		PartSize: 5 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.SetMaxCopy(1 << 20)
	data := strings.Repeat("0123456789abcdef", 12<<20/16)
	attributes := objectstore.Attributes{ContentType: "text/x-large", Metadata: map[string]string{"key": "value"}}
	tags := map[string]string{"tag": "value"}
	if _, err := s.Put(t.Context(), "from a+b", objectstore.Bytes([]byte(data)), &objectstore.PutOptions{Attributes: attributes, Tags: tags}); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), "from a+b", "to", &objectstore.CopyOptions{Mode: objectstore.Create}); err != nil {
		t.Fatal(err)
	}
	got, meta, err := objectstore.ReadAll(t.Context(), s, "to")
	if err != nil || string(got) != data || !strings.HasSuffix(meta.ETag, "-3") {
		t.Fatalf("copied %d bytes with ETag %q, %v", len(got), meta.ETag, err)
	}
	result, err := s.Get(t.Context(), "to", &objectstore.GetOptions{Head: true})
	if err != nil || !reflect.DeepEqual(result.Attributes, attributes) {
		t.Fatalf("attributes are %+v, %v", result, err)
	}
	if got, err := s.Tags(t.Context(), "to"); err != nil || !reflect.DeepEqual(got, tags) {
		t.Fatalf("tags are %v, %v", got, err)
	}
	if err := s.Copy(t.Context(), "from a+b", "to", &objectstore.CopyOptions{Mode: objectstore.Create}); !errors.Is(err, objectstore.ErrAlreadyExists) {
		t.Fatal(err)
	}
	for upload, err := range s.ListMultiparts(t.Context(), "") {
		t.Fatalf("left %+v, %v", upload, err)
	}
}

func TestStreamsKeepTheirAttributes(t *testing.T) {
	s := open(t, s3test.Start(t, nil), "bucket")
	want := objectstore.Attributes{ContentType: "text/x-test", ContentEncoding: "zstd", Metadata: map[string]string{"key": "value"}}
	_, err := s.Put(t.Context(), "object", objectstore.Stream(strings.NewReader("data"), 4), &objectstore.PutOptions{Attributes: want})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Get(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Body.Close()
	if data, err := io.ReadAll(result.Body); err != nil || string(data) != "data" || !reflect.DeepEqual(result.Attributes, want) {
		t.Fatalf("read %q with %+v, %v", data, result.Attributes, err)
	}
}

func TestErrorsOfTheServerAreTold(t *testing.T) {
	server := s3test.Start(t, nil)
	wrong, err := s3.New(t.Context(), s3.Options{
		Bucket: server.Bucket(t, "bucket"), Endpoint: server.Endpoint, AccessKeyID: s3test.AccessKey, SecretAccessKey: "wrong",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Put(t.Context(), "object", objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrUnauthenticated) {
		t.Errorf("wrong secret: %v", err)
	}
	missing, err := s3.New(t.Context(), s3.Options{
		Bucket: "missing", Endpoint: server.Endpoint, AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Get(t.Context(), "object", nil); !errors.Is(err, objectstore.ErrNoBucket) || errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("missing bucket: %v", err)
	}
	s := open(t, server, "other")
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes(nil), &objectstore.PutOptions{
		Attributes: objectstore.Attributes{Metadata: map[string]string{"key": "line\nbreak"}},
	}); !errors.Is(err, objectstore.ErrInvalidOption) {
		t.Errorf("header injection: %v", err)
	}
	server.Stop()
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); !objectstore.IsTransient(err) {
		t.Errorf("server gone: %v", err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); err != nil {
		t.Errorf("server back: %v", err)
	}
}

// fake returns the store of a server that answers as handle does.
func fake(t *testing.T, handle http.HandlerFunc) *s3.Store {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	s, err := s3.New(context.Background(), s3.Options{Bucket: "bucket", Endpoint: server.URL, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnswersCutShortAreErrors(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"connection cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		},
		"range shorter than it says": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-99/100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "short")
		},
		"without a length": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "short")
			w.(http.Flusher).Flush()
		},
		"another range": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 50-54/100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "other")
		},
		"range that is none": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes x")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "other")
		},
	} {
		s := fake(t, handle)
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

func TestServersWithoutRangesAreReadInRanges(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "0123456789") })
	result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Range: objectstore.Bounded(3, 7)})
	if err != nil {
		t.Fatal(err)
	}
	defer result.Body.Close()
	if data, err := io.ReadAll(result.Body); err != nil || string(data) != "3456" || result.Meta.Size != 10 {
		t.Fatalf("read %q of %d, %v", data, result.Meta.Size, err)
	}
}

func TestServersThatIgnoreConditionsAreNotBelieved(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"current"`)
		_, _ = io.WriteString(w, "0123456789")
	})
	if _, err := s.Get(t.Context(), "object", &objectstore.GetOptions{IfMatch: "old"}); !errors.Is(err, objectstore.ErrPrecondition) {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "object", &objectstore.GetOptions{IfNoneMatch: "current"}); !errors.Is(err, objectstore.ErrNotModified) {
		t.Error(err)
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	for _, options := range []s3.Options{
		{}, {Bucket: "a/b"}, {Bucket: "b", Endpoint: "127.0.0.1:9000"}, {Bucket: "b", Endpoint: "ftp://x"}, {Bucket: "b", SDKRetries: -1},
	} {
		if _, err := s3.New(t.Context(), options); !errors.Is(err, objectstore.ErrInvalidOption) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func TestEnvironmentConfigures(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s, err := s3.New(t.Context(), s3.Options{Bucket: "b"})
	if err != nil || s.String() != "s3://b?endpoint=http://127.0.0.1:1" {
		t.Fatalf("%v, %v", s, err)
	}
}
