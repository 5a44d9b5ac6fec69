package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// The endpoint's own keys in these tests.
const (
	serveAccess = "test-access"
	serveSecret = "test-secret"
)

// served is a running stardust mirror serve.
type served struct {
	*process
	t      *testing.T
	url    string // without a bucket
	access string
	secret string
	http   *http.Client
	// drained is closed when standard error has ended.
	drained chan struct{}
}

// serve starts stardust mirror serve on a free port and waits until it says where
// it listens. With made-up keys it reads them from what the process prints.
func serve(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	s := &served{t: t, access: serveAccess, secret: serveSecret, http: http.DefaultClient, drained: make(chan struct{})}
	s.process = start(t, dir, append([]string{"mirror", "serve", "--dir", "m", "--listen", "127.0.0.1:0"}, args...)...)
	t.Cleanup(s.stop)
	made := regexp.MustCompile(`^made up for this run: STARDUST_ACCESS_KEY_ID=(\S+) STARDUST_SECRET_ACCESS_KEY=(\S+)\n$`)
	serving := regexp.MustCompile(`^serving \S+ at (https?://127\.0\.0\.1:\d+)/(\S+); its state is at (https?://\S+)/status\n$`)
	for {
		line, err := s.stderr.ReadString('\n')
		if m := made.FindStringSubmatch(line); m != nil {
			s.access, s.secret = m[1], m[2]
		}
		if m := serving.FindStringSubmatch(line); m != nil {
			s.url = m[1]
			break
		}
		if err != nil {
			close(s.drained)
			t.Fatalf("%v never served; last it said %q", s.Args, line)
		}
	}
	// Nobody else reads it, and a full pipe would stop the process.
	go func() {
		defer close(s.drained)
		_, _ = io.Copy(io.Discard, s.stderr) // ends with the process
	}()
	return s
}

// stop ends the process, if it runs.
func (s *served) stop() {
	if s.ProcessState == nil {
		_ = s.Process.Kill() // it may have ended
		s.exit()
	}
}

// terminate asks the process to end and returns its exit code.
func (s *served) terminate() int {
	s.t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	return s.exit()
}

// exit waits for the end and returns the exit code.
func (s *served) exit() int {
	<-s.drained
	_ = s.Wait() // the exit code tells
	return s.ProcessState.ExitCode()
}

// client returns an SDK client with a secret key.
func (s *served) client(secret string) *awss3.Client {
	return awss3.New(awss3.Options{
		BaseEndpoint: aws.String(s.url), Region: "us-east-1", UsePathStyle: true, HTTPClient: s.http,
		Credentials: credentials.NewStaticCredentialsProvider(s.access, secret, ""), Retryer: aws.NopRetryer{},
	})
}

// page gets one of the endpoint's pages.
func (s *served) page(name string) (code int, text string) {
	s.t.Helper()
	response, err := s.http.Get(s.url + "/" + name)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// waitReady waits until the endpoint says that it is warm.
func (s *served) waitReady() {
	s.t.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for {
		if code, _ := s.page("readyz"); code == http.StatusOK {
			return
		}
		select {
		case <-ticks.C:
		case <-s.t.Context().Done():
			s.t.Fatal("never ready")
		}
	}
}

// status returns /status.json.
func (s *served) status() (status struct {
	State          string
	Objects, Bytes int64
	Counters       map[string]int64
},
) {
	s.t.Helper()
	code, text := s.page("status.json")
	if err := json.Unmarshal([]byte(text), &status); code != http.StatusOK || err != nil {
		s.t.Fatalf("status.json: %d, %v\n%s", code, err, text)
	}
	return status
}

// get reads an object through the endpoint.
func (s *served) get(key string) (string, error) {
	s.t.Helper()
	out, err := s.client(s.secret).GetObject(s.t.Context(), &awss3.GetObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key)})
	if err != nil {
		return "", err
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	return string(data), err
}

// upstreamDir makes a directory that holds objects: their names are their
// contents.
func upstreamDir(t *testing.T, keys ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, key := range keys {
		name := filepath.Join(dir, "up", filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(key), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func ownKeys(t *testing.T) {
	t.Helper()
	t.Setenv("STARDUST_ACCESS_KEY_ID", serveAccess)
	t.Setenv("STARDUST_SECRET_ACCESS_KEY", serveSecret)
}

// serve warms, serves what is local, tells how it is, refuses other keys and ends
// with 0 on SIGTERM.
func TestServeServesAMirror(t *testing.T) {
	ownKeys(t)
	dir := upstreamDir(t, "a", "dir/b", "dir/ä +%")
	s := serve(t, dir, "--upstream", "./up")
	s.waitReady()
	for _, key := range []string{"a", "dir/b", "dir/ä +%"} {
		if got, err := s.get(key); err != nil || got != key {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	status := s.status()
	if status.State != "warm" || status.Objects != 3 || status.Counters["hits"] != 3 || status.Counters["downloads"] != 3 {
		t.Errorf("status: %+v", status)
	}
	for page, want := range map[string]string{
		"healthz": "ok", "readyz": "warm", "metrics": "stardust_sidecar_ready 1", "status": `id="objects">3<`,
	} {
		if code, text := s.page(page); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, without %q", page, code, want)
		}
	}
	_, err := s.client("wrong").GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("mirror"), Key: aws.String("a")})
	if err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
		t.Errorf("with a wrong key: %v", err)
	}
	if response, err := http.Get(s.url + "/mirror/a"); err != nil {
		t.Error(err)
	} else if response.Body.Close(); response.StatusCode != http.StatusForbidden {
		t.Errorf("without a signature: %d", response.StatusCode)
	}
	// A second one has neither the directory nor the port.
	code, _, stderr := stardustCommand(t, dir, "mirror", "status", "--upstream", "./up", "--dir", "m")
	if code != 1 || !strings.Contains(stderr, "another mirror uses the directory") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status while it is served: %d, %q", code, stderr)
	}
	address := strings.TrimPrefix(s.url, "http://")
	code, _, stderr = stardustCommand(t, dir, "mirror", "serve", "--upstream", "./up", "--dir", "other", "--listen", address)
	if code != 1 || !strings.Contains(stderr, "address already in use") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a second serve: %d, %q", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "other")); err == nil {
		t.Error("the second serve made its directory")
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// Without any keys serve makes up a pair and prints it; they work, and each run
// has others.
func TestServeMakesUpKeys(t *testing.T) {
	t.Setenv("STARDUST_ACCESS_KEY_ID", "")
	t.Setenv("STARDUST_SECRET_ACCESS_KEY", "")
	dir := upstreamDir(t, "a")
	s := serve(t, dir, "--upstream", "./up")
	first := s.secret
	if got, err := s.get("a"); err != nil || got != "a" {
		t.Errorf("%q, %v", got, err)
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if s = serve(t, dir, "--upstream", "./up"); s.secret == first || len(s.secret) < 20 {
		t.Errorf("secret keys %q, then %q", first, s.secret)
	}
}

// --anonymous serves unsigned requests; --bucket and --access-key name things.
func TestServeAnonymously(t *testing.T) {
	t.Setenv("STARDUST_SECRET_ACCESS_KEY", serveSecret)
	dir := upstreamDir(t, "a")
	s := serve(t, dir, "--upstream", "./up", "--anonymous", "--bucket", "books", "--access-key", "key", "--region", "eu-1", "-q=false")
	response, err := http.Get(s.url + "/books/a")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || string(text) != "a" {
		t.Errorf("%d %q, %v", response.StatusCode, text, err)
	}
}

// --policy rules and lru keep what they say.
func TestServePolicies(t *testing.T) {
	ownKeys(t)
	keys := []string{"db/1.sst", "db/2.sst", "logs/x.log", "notes.txt"}
	t.Run("rules", func(t *testing.T) {
		s := serve(t, upstreamDir(t, keys...), "--upstream", "./up", "--policy", "rules", "--keep", "**/*.sst", "--keep", "*.txt")
		s.waitReady()
		for _, key := range append(keys, keys...) {
			if got, err := s.get(key); err != nil || got != key {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
		status := s.status()
		if status.Objects != 3 || status.Counters["readThroughs"] != 3 || status.Counters["hits"] < 3 || status.Counters["remoteReads"] != 2 {
			t.Errorf("%+v", status)
		}
	})
	t.Run("lru", func(t *testing.T) {
		// Room for two of the tables: the one read longest ago goes.
		s := serve(t, upstreamDir(t, keys...), "--upstream", "./up", "--policy", "lru", "--limit", "20B")
		for _, key := range keys {
			if got, err := s.get(key); err != nil || got != key {
				t.Errorf("%s: %q, %v", key, got, err)
			}
		}
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		for s.status().Bytes > 20 { // evictions are in the background
			<-ticks.C
		}
		if got, err := s.get(keys[0]); err != nil || got != keys[0] {
			t.Errorf("an evicted object: %q, %v", got, err)
		}
	})
	t.Run("prefix", func(t *testing.T) {
		s := serve(t, upstreamDir(t, keys...), "--upstream", "./up", "--prefix", "db/", "--no-verification", "--scan-interval", "-1s", "--max-requests", "3", "--upstream-calls", "4", "--upstream-bandwidth", "1GiB", "--downloads", "2")
		s.waitReady()
		if status := s.status(); status.Objects != 2 {
			t.Errorf("%+v", status)
		}
	})
	t.Run("slatedb", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "up", "db"), os.DirFS("../../slatedb/testdata/a-small/db")); err != nil {
			t.Fatal(err)
		}
		code, ssts, stderr := stardustCommand(t, dir, "slatedb", "ssts", "./up", "--root", "db")
		if code != 0 {
			t.Fatal(stderr)
		}
		for path := range strings.Lines(ssts) {
			name := filepath.Join(dir, "up", strings.TrimSpace(path))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(path), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		code, stdout, stderr := stardustCommand(t, dir, "mirror", "warm", "--upstream", "./up", "--dir", "m", "--policy", "slatedb", "--root", "db")
		if code != 0 || !strings.HasPrefix(stdout, plural(int64(strings.Count(ssts, "\n")), "object", "objects")+" local") {
			t.Errorf("warm: %d, %s%s", code, stdout, stderr)
		}
		s := serve(t, dir, "--upstream", "./up", "--policy", "slatedb", "--root", "/db/", "--compactions-poll", "1h")
		s.waitReady()
		if status := s.status(); status.Objects != int64(strings.Count(ssts, "\n")) || status.Counters["downloads"] != 0 {
			t.Errorf("%+v", status)
		}
	})
}

// TLS with a certificate and key from files, and HTTP/2 with it.
func TestServeTLS(t *testing.T) {
	ownKeys(t)
	dir := upstreamDir(t, "a")
	roots := writeCertificate(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	s := serve(t, dir, "--upstream", "./up", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(s.url, "https://") {
		t.Errorf("it serves at %s", s.url)
	}
	s.http = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer s.http.CloseIdleConnections()
	if got, err := s.get("a"); err != nil || got != "a" {
		t.Errorf("%q, %v", got, err)
	}
	response, err := s.http.Get(s.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 {
		t.Errorf("the protocol is %s", response.Proto)
	}
	old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11}}} // to be refused
	if response, err := old.Get(s.url + "/healthz"); err == nil {
		response.Body.Close()
		t.Error("TLS 1.1 was taken")
	}
}

// An upload under way when SIGTERM comes is finished: the client gets its answer,
// the object is upstream, and the process ends with 0. New requests are refused.
func TestServeFinishesAnUploadWhenItIsTerminated(t *testing.T) {
	ownKeys(t)
	dir := upstreamDir(t, "a")
	s := serve(t, dir, "--upstream", "./up", "--anonymous")
	s.waitReady()
	body, feed := io.Pipe()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/mirror/new", body)
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = int64(len(data))
	answered := make(chan error, 1)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				err = errors.New(response.Status)
			}
		}
		answered <- err
	}()
	// The pipe passes a piece on only once the client has sent the one before,
	// so the request is under way.
	for _, piece := range [][]byte{data[:1000], data[1000 : len(data)/2]} {
		if _, err := feed.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	waitForTemporary(t, filepath.Join(dir, "m"))
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitRefused(t, strings.TrimPrefix(s.url, "http://"))
	if _, err := feed.Write(data[len(data)/2:]); err != nil {
		t.Fatal(err)
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the upload: %v", err)
	}
	if code := s.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if stored, err := os.ReadFile(filepath.Join(dir, "up", "new")); err != nil || !bytes.Equal(stored, data) {
		t.Errorf("upstream has %d bytes, %v", len(stored), err)
	}
}

// waitForTemporary waits until the mirror is writing a local copy.
func waitForTemporary(t *testing.T, dir string) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		if found, err := filepath.Glob(filepath.Join(dir, "*.obj.[0-9]*")); err == nil && len(found) > 0 {
			return
		}
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatal("no upload ever began")
		}
	}
}

// waitRefused waits until nobody listens at an address any more.
func waitRefused(t *testing.T, address string) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return
		}
		conn.Close()
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatal("it listens still")
		}
	}
}
