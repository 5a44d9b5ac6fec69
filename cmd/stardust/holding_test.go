package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// holdingServer is an S3 endpoint over a memory store that never finishes the
// requests that it is told to hold: of a GET it sends a part, of a PUT it takes
// everything and doesn't answer. They end when the client leaves.
type holdingServer struct {
	store   *memory.Store
	reached chan struct{} // gets a value when a request is held
	url     string
	handler http.Handler
	hold    func(*http.Request) bool
}

// sentBeforeHold is how much of a held GET is sent.
const sentBeforeHold = 64 << 10

func newHoldingServer(t *testing.T, hold func(*http.Request) bool) *holdingServer {
	t.Helper()
	h := &holdingServer{store: memory.New(nil), reached: make(chan struct{}, 64), hold: hold}
	handler, err := s3.NewHandler(h.store, s3.Options{Bucket: "bucket", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	h.handler = handler
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.Close()
		if err := handler.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	h.url = server.URL
	return h
}

// ServeHTTP implements http.Handler.
func (h *holdingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !h.hold(r):
		h.handler.ServeHTTP(w, r)
	case r.Method == http.MethodGet:
		h.handler.ServeHTTP(&heldWriter{ResponseWriter: w, held: h, left: sentBeforeHold, end: r.Context().Done()}, r)
	default:
		_, _ = io.Copy(io.Discard, r.Body) // what is not read makes no difference
		h.reached <- struct{}{}
		<-r.Context().Done()
	}
}

// at returns the URL of an object of the server.
func (h *holdingServer) at(key string) string {
	return "s3://bucket/" + key + "?endpoint=" + h.url + "&path-style=true&anonymous=true"
}

// put stores an object without any request.
func (h *holdingServer) put(t *testing.T, key string, size int) {
	t.Helper()
	data := strings.Repeat("0123456789abcdef", (size+15)/16)[:size]
	if _, err := h.store.Put(t.Context(), objectstore.Path(key), objectstore.Bytes([]byte(data)), nil); err != nil {
		t.Fatal(err)
	}
}

// remains returns the objects and the uploads that the store holds.
func (h *holdingServer) remains(t *testing.T) (names []string) {
	t.Helper()
	for meta, err := range h.store.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, meta.Path.String())
	}
	for upload, err := range h.store.ListMultiparts(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, "upload of "+upload.Path.String())
	}
	return names
}

// heldWriter passes a few bytes and then waits for the client to leave.
type heldWriter struct {
	http.ResponseWriter
	held *holdingServer
	left int
	end  <-chan struct{}
}

func (w *heldWriter) Write(p []byte) (int, error) {
	if len(p) <= w.left {
		w.left -= len(p)
		return w.ResponseWriter.Write(p)
	}
	n, err := w.ResponseWriter.Write(p[:w.left])
	w.left -= n
	if err != nil {
		return n, err
	}
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		return n, err
	}
	w.held.reached <- struct{}{}
	<-w.end
	return n, io.ErrClosedPipe
}

// localFiles returns the files below a directory, but for locks.
func localFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(name, "/locks/") {
			return err
		}
		names = append(names, filepath.Base(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// waitForFile waits until a file exists. Another process makes it, so there is
// nothing to wait on; the test's own time limit ends a wait in vain.
func waitForFile(t *testing.T, name string) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatalf("%s never appeared", name)
		}
	}
}

// startWith starts a command whose standard input is a file, when that is
// wanted.
func startWith(t *testing.T, dir, file string, wanted bool, args ...string) *process {
	t.Helper()
	p := start(t, dir, args...)
	if !wanted {
		return p
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(p.stdin, f); err != nil {
		t.Fatal(err)
	}
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}
