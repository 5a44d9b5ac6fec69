package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/server"
)

// speak opens a connection, says something, and leaves what follows to the caller.
func (w *world) speak(text string) net.Conn {
	w.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// eventually waits until something holds.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("it never came to be that %s", what)
		}
	}
}

// Clients that go in the middle of whatever they do leave no file, no goroutine and no
// space; only what they may resume waits, and can be given up.
func TestClientsThatVanishLeaveNothing(t *testing.T) {
	uploads := filepath.Join(t.TempDir(), "uploads")
	w := run(t, true, server.Options{Uploads: uploads}, server.ServerOptions{})
	w.want(201, "PUT", "/v1/files/large", strings.Repeat("0123456789abcdef", 1<<17))
	before, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	base := runtime.NumGoroutine()

	half := strings.Repeat("x", 400_000) // enough to be a large upload
	var open []net.Conn
	var resumable []string
	for i := range 10 {
		resp, _ := w.want(201, "POST", "/v1/uploads", "", "Tus-Resumable", "1.0.0", "Upload-Length", "1000000", "Upload-Metadata", "path cmVzdW1lZA==")
		id := filepath.Base(resp.Header.Get("Location"))
		resumable = append(resumable, id)
		for _, request := range []string{
			fmt.Sprintf("PUT /v1/files/put%d HTTP/1.1\r\nContent-Length: 1000000", i),
			fmt.Sprintf("PUT /dav/dav%d HTTP/1.1\r\nContent-Length: 1000000", i),
			"POST /v1/payloads HTTP/1.1\r\nContent-Length: 1000000",
			"PATCH /v1/uploads/" + id + " HTTP/1.1\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 1000000",
		} {
			open = append(open, w.speak(request+"\r\nHost: localhost\r\n\r\n"+half))
		}
		open = append(open, w.speak("GET /v1/files/large HTTP/1.1\r\nHost: localhost\r\n\r\n"), w.speak("GET /v1/changes/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
			w.speak("GET /v1/files/?format=zip HTTP/1.1\r\nHost: localhost\r\n\r\n"), w.speak("PUT /v1/files/x HT"))
	}
	for _, conn := range open {
		_ = conn.Close()
	}
	w.eventually("every upload that can be resumed has what arrived", func() bool {
		_, text := w.do("GET", "/v1/uploads", "")
		return strings.Count(text, `"offset":400000`) == len(resumable) && !strings.Contains(text, `"active":true`)
	})
	for _, id := range resumable {
		w.want(204, "DELETE", "/v1/uploads/"+id, "", "Tus-Resumable", "1.0.0")
	}
	if _, err := os.Stat(uploads); !os.IsNotExist(err) {
		t.Errorf("the directory of uploads: %v", err)
	}
	w.eventually("no goroutine of theirs is left", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return runtime.NumGoroutine() <= base
	})
	after, err := w.db.Info()
	if err != nil || after.LastRevision != before.LastRevision || after.Payloads != before.Payloads || after.Chunks != before.Chunks {
		t.Errorf("before %+v\nafter %+v, %v", before, after, err)
	}
	if report, err := w.db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// Headers that come in drops end with their time, whatever else is served meanwhile.
func TestHeadersThatComeSlowlyEnd(t *testing.T) {
	w := run(t, true, server.Options{}, server.ServerOptions{HeaderTimeout: 100 * time.Millisecond})
	conn := w.speak("GET /v1/info HTTP/1.1\r\nHost: local")
	defer func() { _ = conn.Close() }()
	w.want(200, "GET", "/v1/info", "")
	if answer, err := io.ReadAll(conn); err != nil || strings.Contains(string(answer), "200 OK") {
		t.Errorf("the answer: %q, %v", answer, err)
	}
}
