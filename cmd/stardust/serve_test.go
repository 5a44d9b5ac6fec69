package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serveSocket runs serve on a Unix socket and returns a client of it.
func serveSocket(t *testing.T, args ...string) *http.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(context.Background())
	ready, said := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		e := newEnv()
		e.err = said
		code := run(ctx, e, append([]string{"serve", "--listen=", "--socket", socket}, args...))
		_ = said.Close()
		ended <- code
	}()
	buffer, told := make([]byte, 4096), ""
	for !strings.Contains(told, "at unix:") {
		n, err := ready.Read(buffer)
		if err != nil {
			t.Fatalf("serve ended: %s", told)
		}
		told += string(buffer[:n])
	}
	go func() { _, _ = io.Copy(io.Discard, ready) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("serve ended with %d", code)
		}
	})
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode: %v, %v", info.Mode(), err)
	}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
}

func fetch(t *testing.T, c *http.Client, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://stardust"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestAReadOnlyServerShowsWhatAnotherWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db")
	writer := serveSocket(t, file)
	if code, text := fetch(t, writer, "PUT", "/v1/files/f", "first"); code != http.StatusCreated {
		t.Fatalf("put: %d %s", code, text)
	}
	reader := serveSocket(t, file, "--read-only")
	if code, text := fetch(t, reader, "GET", "/v1/files/f", ""); code != http.StatusOK || text != "first" {
		t.Errorf("get: %d %s", code, text)
	}
	if code, _ := fetch(t, writer, "PUT", "/v1/files/f", "second"); code != http.StatusOK {
		t.Errorf("put: %d", code)
	}
	if code, text := fetch(t, reader, "GET", "/v1/files/f", ""); code != http.StatusOK || text != "second" {
		t.Errorf("get after the other's write: %d %s", code, text)
	}
	if code, _ := fetch(t, reader, "PUT", "/v1/files/f", "third"); code != http.StatusForbidden {
		t.Errorf("put to the reader: %d", code)
	}
}

func TestSeveralDatabasesHaveNames(t *testing.T) {
	dir := t.TempDir()
	c := serveSocket(t, filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db"))
	if code, _ := fetch(t, c, "PUT", "/one/v1/files/f", "x"); code != http.StatusCreated {
		t.Errorf("put: %d", code)
	}
	if code, _ := fetch(t, c, "GET", "/two/v1/files/f", ""); code != http.StatusNotFound {
		t.Errorf("get from the other: %d", code)
	}
	if code, text := fetch(t, c, "GET", "/", ""); code != http.StatusOK || !strings.Contains(text, `href="one/"`) {
		t.Errorf("the index: %d %s", code, text)
	}
	for _, path := range []string{"/one/", "/one/static/index.html", "/two/dav/"} {
		method := "GET"
		if strings.HasSuffix(path, "dav/") {
			method = "PROPFIND"
		}
		if code, text := fetch(t, c, method, path, ""); code != http.StatusOK && code != http.StatusMultiStatus && code != http.StatusMovedPermanently {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

func TestServeRefusesToBeReachedWithoutUsersAndTLS(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--listen", "0.0.0.0:0"},
		{"--listen", "[::]:0"},
		{"--listen", ":0"},
	} {
		var said strings.Builder
		e := newEnv()
		e.err = &said
		if code := run(t.Context(), e, append([]string{"serve", filepath.Join(dir, "db")}, args...)); code != exitUsage || !strings.Contains(said.String(), "--users") {
			t.Errorf("%v: %d %s", args, code, said.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "db")); err == nil {
		t.Error("a refused server made the database")
	}
}

// demo --serve shows the page on what it made, until it is interrupted, and then
// leaves nothing.
func TestTheDemoServesItsPage(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		e := newEnv()
		e.out, e.err = bufio.NewWriter(out), io.Discard
		code := run(ctx, e, []string{"demo", "--serve", filepath.Join("testdata", "script")})
		_ = out.Close()
		ended <- code
	}()
	address := ""
	lines := bufio.NewScanner(said)
	for address == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "Open http://"); ok {
			address, _, _ = strings.Cut(rest, "/")
		}
	}
	if address == "" {
		t.Fatalf("it told no address, and ended with %d", <-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}}
	for path, holds := range map[string]string{"/": "Stardust", "/v1/search/?name=demo.txtar": "demo.txtar", "/v1/commits/": "moved"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), holds) {
			t.Errorf("%s: %s, %v\n%s", path, resp.Status, err, text)
		}
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("it ended with %d", code)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "stardust-demo-*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
