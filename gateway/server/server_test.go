package server_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/client"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/server"
	"github.com/stardustdb/stardust/internal/logtest"
)

const password = "correct horse"

// world is a server with a database.
type world struct {
	t      *testing.T
	db     *stardust.DB
	people *accounts.File
	base   string
	log    *logtest.Log
	stop   func() error
}

// run starts a server, with accounts unless open.
func run(t *testing.T, open bool, options server.Options, serverOptions server.ServerOptions) *world {
	t.Helper()
	w := &world{t: t, log: new(logtest.Log)}
	var err error
	if w.db, err = stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	for _, path := range []string{"public/readme.txt", "private/secret.txt"} {
		if _, err := w.db.Tree().Put(path, strings.NewReader("content of "+path), &stardust.PutOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
	}
	if !open {
		w.people, err = accounts.Open(filepath.Join(t.TempDir(), "accounts"), true)
		if err == nil {
			err = w.people.SetUser(accounts.User{Name: "ann", Write: true}, password)
		}
		if err == nil {
			err = w.people.SetUser(accounts.User{Name: "guest", Root: "/public"}, password)
		}
		if err != nil {
			t.Fatal(err)
		}
		options.Accounts = w.people
	}
	ctx, cancel := context.WithCancel(context.Background())
	options.Closing = ctx.Done()
	logger := slog.New(slog.NewJSONHandler(w.log, nil))
	serverOptions.Logger = logger
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.base = "http://" + listener.Addr().String()
	served := make(chan error, 1)
	go func() {
		served <- server.NewServer([]*server.Site{server.NewSite(w.db, &options)}, &serverOptions).Serve(ctx, listener)
	}()
	w.stop = sync.OnceValue(func() error {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-served
	})
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Errorf("the end of the server: %v", err)
		}
	})
	return w
}

// do makes a request: header, value, header, value...
func (w *world) do(method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		switch header[i] {
		case "Host":
			r.Host = header[i+1]
		case "user":
			r.SetBasicAuth(header[i+1], password)
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(text)
}

func (w *world) want(status int, method, path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	resp, text := w.do(method, path, body, header...)
	if resp.StatusCode != status {
		w.t.Errorf("%s %s %q: %d %s, not %d", method, path, header, resp.StatusCode, text, status)
	}
	return resp, text
}

func TestNobodyGetsInWithoutAPasswordOrToken(t *testing.T) {
	w := run(t, false, server.Options{}, server.ServerOptions{})
	secret, err := w.people.AddToken(accounts.Token{Name: "ci", Root: "public", Write: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/files/", "/v1/openapi.json", "/v1/info", "/dav/", "/metrics", "/nothing", "/v1/shares"} {
		w.want(401, "GET", path, "")
		w.want(401, "GET", path, "", "Authorization", "Bearer x")
	}
	w.want(200, "GET", "/healthz", "")
	w.want(200, "GET", "/readyz", "")
	w.want(200, "GET", "/", "")
	for _, path := range []string{"/v1/files/", "/v1/openapi.json", "/v1/info", "/metrics"} {
		w.want(200, "GET", path, "", "user", "ann")
	}
	_, text := w.want(200, "GET", "/v1/files/readme.txt", "", "user", "guest")
	if text != "content of public/readme.txt" {
		t.Errorf("guest reads %q", text)
	}
	w.want(404, "GET", "/v1/files/private/secret.txt", "", "user", "guest")
	w.want(403, "PUT", "/v1/files/x", "x", "user", "guest")
	w.want(403, "PUT", "/dav/x", "x", "user", "guest")
	w.want(403, "GET", "/metrics", "", "user", "guest")
	w.want(201, "PUT", "/v1/files/by-token", "x", "Authorization", "Bearer "+secret)
	if _, err := w.db.Tree().Resolve("public/by-token"); err != nil {
		t.Errorf("the token wrote elsewhere: %v", err)
	}
	if err := w.people.RemoveToken("ci"); err != nil {
		t.Fatal(err)
	}
	w.want(401, "PUT", "/v1/files/by-token", "y", "Authorization", "Bearer "+secret)
}

func TestGuessingEndsForAMinute(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	w := run(t, false, server.Options{Now: clock}, server.ServerOptions{})
	for range 20 {
		w.want(401, "GET", "/v1/info", "", "Authorization", "Bearer wrong")
	}
	w.want(429, "GET", "/v1/info", "", "Authorization", "Bearer wrong")
	w.want(429, "GET", "/v1/info", "", "user", "ann")
	w.want(429, "POST", "/v1/session", `{"user":"ann","password":"`+password+`"}`)
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	w.want(200, "GET", "/v1/info", "", "user", "ann")
}

func TestASessionLastsUntilItsUserLeaves(t *testing.T) {
	w := run(t, false, server.Options{}, server.ServerOptions{})
	w.want(401, "POST", "/v1/session", `{"user":"ann","password":"wrong"}`)
	w.want(400, "POST", "/v1/session", `{`)
	resp, _ := w.want(204, "POST", "/v1/session", `{"user":"ann","password":"`+password+`"}`)
	cookie := resp.Header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%s: without %s", cookie, part)
		}
	}
	id, _, _ := strings.Cut(cookie, ";")
	w.want(200, "GET", "/v1/info", "", "Cookie", id)
	w.want(204, "DELETE", "/v1/session", "", "Cookie", id)
	w.want(401, "GET", "/v1/info", "", "Cookie", id)
}

func TestAPageOfAnotherSiteChangesNothing(t *testing.T) {
	w := run(t, true, server.Options{}, server.ServerOptions{Hosts: []string{"files.example"}})
	before, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"PUT", "POST", "DELETE", "PROPFIND", "MKCOL", "MOVE"} {
		for _, path := range []string{"/v1/files/x", "/v1/payloads", "/v1/move", "/dav/x"} {
			w.want(403, method, path, "x", "Sec-Fetch-Site", "cross-site")
			w.want(403, method, path, "x", "Origin", "https://evil.example")
		}
	}
	// A name that its owner made to mean this machine.
	w.want(403, "GET", "/v1/files/", "", "Host", "evil.example")
	w.want(200, "GET", "/v1/files/", "", "Host", "files.example")
	w.want(200, "GET", "/v1/files/", "", "Host", "localhost:80")
	if after, err := w.db.Info(); err != nil || after.LastRevision != before.LastRevision || after.Payloads != before.Payloads {
		t.Errorf("something changed: %+v, %v", after, err)
	}
}

func TestALinkShowsWhatIsSharedAndNoMore(t *testing.T) {
	w := run(t, false, server.Options{}, server.ServerOptions{})
	info, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"path": "/", "at": info.LastRevision})
	if err != nil {
		t.Fatal(err)
	}
	_, text := w.want(201, "POST", "/v1/shares", string(body), "user", "guest")
	var link struct{ Path string }
	if err := json.Unmarshal([]byte(text), &link); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Tree().Put("public/readme.txt", strings.NewReader("later"), nil); err != nil {
		t.Fatal(err)
	}
	if _, text := w.want(200, "GET", link.Path+"v1/files/readme.txt", ""); text != "content of public/readme.txt" {
		t.Errorf("the link shows %q", text)
	}
	w.want(200, "GET", link.Path, "")
	w.want(404, "GET", link.Path+"v1/files/secret.txt", "")
	w.want(403, "GET", link.Path+"v1/files/readme.txt?at=0999", "")
	w.want(403, "PUT", link.Path+"v1/files/x", "x")
	w.want(404, "POST", link.Path+"v1/shares", "{}")
	w.want(404, "GET", "/s/x.y/v1/files/", "")
	secret := strings.Split(link.Path, "/")[2]
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if log := w.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "/s/…/v1/files/readme.txt") {
		t.Errorf("the log has the secret, or not the request: %s", log)
	}
}

func TestTheLogHasNoSecrets(t *testing.T) {
	w := run(t, false, server.Options{}, server.ServerOptions{})
	w.do("GET", "/v1/info?token=querysecret", "", "user", "ann")
	w.do("GET", "/v1/info", "", "Authorization", "Bearer headersecret")
	w.do("POST", "/v1/session", `{"user":"ann","password":"bodysecret"}`)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	log := w.log.String()
	for _, secret := range []string{"querysecret", "headersecret", "bodysecret", password} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %s: %s", secret, log)
		}
	}
	if !strings.Contains(log, `"user":"ann"`) || !strings.Contains(log, `"status":401`) {
		t.Errorf("the log: %s", log)
	}
}

func TestAServerStopsWhileSomebodyFollowsChanges(t *testing.T) {
	w := run(t, true, server.Options{}, server.ServerOptions{ShutdownTimeout: 10 * time.Second})
	c, err := client.New(w.base, nil)
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, err := range c.Changes(t.Context(), "", 1) {
		if err != nil {
			break // the server has closed the stream
		}
		if events++; events == 1 {
			go func() { _ = w.stop() }()
		}
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if events == 0 {
		t.Error("no change came")
	}
}

func TestAClientGetsSoManyConnections(t *testing.T) {
	w := run(t, true, server.Options{}, server.ServerOptions{MaxConnections: 2})
	addr := strings.TrimPrefix(w.base, "http://")
	first, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	second, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	third, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = third.Close() }()
	if _, err := third.Read(make([]byte, 1)); err == nil {
		t.Error("a third connection stays open")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	// The server learns of the end of a connection in its own time.
	for range 1000 {
		if resp, err := http.Get(w.base + "/healthz"); err == nil {
			_ = resp.Body.Close()
			return
		}
	}
	t.Error("no connection after the others' end")
}

func TestABodyThatStallsEnds(t *testing.T) {
	w := run(t, true, server.Options{}, server.ServerOptions{Stall: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "PUT /v1/files/stalled HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(conn); !strings.Contains(string(answer), "400 Bad Request") {
		t.Errorf("the answer: %q", answer)
	}
	if _, err := w.db.Tree().Resolve("stalled"); err == nil {
		t.Error("half a file is there")
	}
}

func TestWithReadOnlyNothingChanges(t *testing.T) {
	w := run(t, true, server.Options{ReadOnly: true}, server.ServerOptions{})
	w.want(403, "PUT", "/v1/files/x", "x")
	w.want(403, "PUT", "/dav/x", "x")
	w.want(403, "DELETE", "/dav/public", "")
	w.want(200, "GET", "/dav/public/readme.txt", "")
}

// TestSignedRequestsOfOtherPagesReachS3 and no others: a signature is made of keys that only the
// page itself has, unlike a login.
func TestSignedRequestsOfOtherPagesReachS3(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	w := run(t, true, server.Options{S3: reached}, server.ServerOptions{})
	const origin = "https://app.example"
	w.want(418, "PUT", "/bucket/key", "x", "Origin", origin, "Authorization", "AWS4-HMAC-SHA256 Credential=x")
	w.want(418, "PUT", "/bucket/key?X-Amz-Signature=x", "x", "Origin", origin)
	w.want(418, "OPTIONS", "/bucket/key", "", "Origin", origin, "Access-Control-Request-Headers", "authorization,x-amz-date")
	w.want(403, "PUT", "/bucket/key", "x", "Origin", origin)
	w.want(403, "PUT", "/v1/files/x", "x", "Origin", origin, "Authorization", "Bearer x")
}
