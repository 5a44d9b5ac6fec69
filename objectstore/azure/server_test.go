package azure_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/azure"
)

func TestAnUploadWhosePartsAnotherWriteDiscardedFails(t *testing.T) {
	// What the service does when an object is written under an upload of it; its
	// emulator keeps the blocks.
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.Method == http.MethodHead:
			w.Header().Set("ETag", `"other"`)
		case r.URL.Query().Get("comp") == "blocklist":
			w.Header().Set("x-ms-error-code", "InvalidBlockList")
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusCreated)
		}
	})
	for mode, want := range map[objectstore.PutMode]error{
		objectstore.Overwrite: objectstore.ErrInvalidPart,
		objectstore.Create:    objectstore.ErrAlreadyExists,
		objectstore.Update:    objectstore.ErrPrecondition,
	} {
		upload, err := s.PutMultipart(t.Context(), "object", &objectstore.MultipartOptions{
			Mode: mode, UpdateVersion: objectstore.UpdateVersion{ETag: "mine"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(t.Context(), 1, objectstore.Bytes([]byte("parts"))); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Complete(t.Context()); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", mode, err, want)
		}
	}
}

// fake returns the store of a server that answers as handle does.
func fake(t *testing.T, handle http.HandlerFunc) *azure.Store {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	s, err := azure.New(azure.Options{Container: "container", Account: "account", Endpoint: server.URL, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestErrorsOfTheServiceAreTold(t *testing.T) {
	for status, want := range map[int]error{
		401: objectstore.ErrUnauthenticated, 403: objectstore.ErrPermissionDenied, 404: objectstore.ErrNotFound,
		412: objectstore.ErrPrecondition, 416: objectstore.ErrInvalidRange, 304: objectstore.ErrNotModified,
	} {
		s := fake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, want) || objectstore.IsTransient(err) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status := range []int{408, 429, 500, 503} {
		requests := 0
		s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
			requests++
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		_, err := s.Get(t.Context(), "object", nil)
		if !objectstore.IsTransient(err) || objectstore.RetryAfter(err).Seconds() != 7 || requests != 1 {
			t.Errorf("%d: %v after %v, %d requests", status, err, objectstore.RetryAfter(err), requests)
		}
	}
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-ms-error-code", "ContainerNotFound")
		w.WriteHeader(http.StatusNotFound)
	})
	if _, err := s.Get(t.Context(), "object", nil); !errors.Is(err, objectstore.ErrNoBucket) || errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("missing container: %v", err)
	}
}

func TestTheLoserOfACreateIsToldThatTheObjectExists(t *testing.T) {
	// The service answers 409, which elsewhere means: try again.
	s := fake(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("x-ms-error-code", "BlobAlreadyExists")
		w.WriteHeader(http.StatusConflict)
	})
	_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), &objectstore.PutOptions{Mode: objectstore.Create})
	if !errors.Is(err, objectstore.ErrAlreadyExists) || objectstore.IsTransient(err) {
		t.Fatal(err)
	}
}

func TestAnswersCutShortAreErrors(t *testing.T) {
	s := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "short")
	})
	if _, _, err := objectstore.ReadAll(t.Context(), s, "object"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	t.Setenv(azure.AccountVariable, "")
	t.Setenv(azure.KeyVariable, "")
	t.Setenv(azure.SASVariable, "")
	for want, cases := range map[error][]azure.Options{
		objectstore.ErrInvalidOption: {
			{},
			{Container: "a/b", Account: "a"},
			{Container: "c"},
			{Container: "c", Account: "a.b"},
			{Container: "c", Account: "a", Key: "not base64!"},
			{Container: "c", Account: "a", Endpoint: "127.0.0.1:1", Anonymous: true},
		},
		objectstore.ErrUnauthenticated: {{Container: "c", Account: "a"}},
	} {
		for _, options := range cases {
			_, err := azure.New(options)
			if !errors.Is(err, want) {
				t.Errorf("%+v: %v, want %v", options, err, want)
			}
			if err != nil && strings.Contains(err.Error(), "not base64!") {
				t.Errorf("the error repeats the key: %v", err)
			}
		}
	}
}
