package gcstest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/peertest"
)

// Server is a running emulator. Its methods may be called concurrently.
type Server struct {
	// Endpoint is its URL, such as http://127.0.0.1:41234.
	Endpoint string

	inner string // the emulator's own
}

// Start starts an emulator, which stops when the test ends. It skips the test
// when the emulator was not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	program := peertest.Installed(t, "bin/fake-gcs-server")
	address := peertest.Start(t, func(host, port string) []string {
		return []string{
			program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-log-level", "error",
			"-public-host", "storage.invalid",
		}
	})
	target := &url.URL{Scheme: "http", Host: address}
	front := httptest.NewServer(newConditions(target))
	t.Cleanup(front.Close)
	return &Server{Endpoint: front.URL, inner: target.String()}
}

// Bucket makes a bucket and returns its name.
func (s *Server) Bucket(t testing.TB, name string) string {
	t.Helper()
	answer, err := http.Post(s.inner+"/storage/v1/b?project=test", "application/json", strings.NewReader(`{"name":"`+name+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("create bucket %q: %s", name, answer.Status)
	}
	return name
}
