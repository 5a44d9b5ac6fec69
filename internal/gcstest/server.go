package gcstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BinaryVariable names the environment variable that holds the path of a
// fake-gcs-server binary to use instead of bin/fake-gcs-server.
const BinaryVariable = "STARDUST_FAKE_GCS_SERVER"

// startTimeout bounds how long the server may take to answer.
const startTimeout = 30 * time.Second

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
	program := binary(t)
	// Another process may take the port between its choice and its use.
	var err error
	for range 5 {
		s := &Server{}
		if err = s.start(t, program); err == nil {
			return s
		}
	}
	t.Fatal(err)
	return nil
}

// binary returns the emulator's path, which `make deps` builds.
func binary(t testing.TB) string {
	t.Helper()
	if name := os.Getenv(BinaryVariable); name != "" {
		return name
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "bin", "fake-gcs-server")
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	t.Skipf("needs bin/fake-gcs-server: run make deps, or set %s", BinaryVariable)
	return ""
}

func (s *Server) start(t testing.TB, program string) error {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	var output bytes.Buffer
	process := exec.Command(program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-log-level", "error",
		"-public-host", "storage.invalid")
	process.Stdout, process.Stderr = &output, &output
	if err := process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed: the error says so
	}()
	stop := func() {
		_ = process.Process.Kill()
		<-ended
	}
	if err := waitReady(t.Context(), address, ended); err != nil {
		stop()
		return fmt.Errorf("starting %s: %w\n%s", program, err, &output)
	}
	t.Cleanup(stop)
	s.inner = "http://" + address
	target, err := url.Parse(s.inner)
	if err != nil {
		return err
	}
	front := httptest.NewServer(newConditions(target))
	t.Cleanup(front.Close)
	s.Endpoint = front.URL
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// waitReady returns once the server takes a connection, or its process ended.
func waitReady(ctx context.Context, address string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return errors.New("the process has ended")
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", address, err)
		case <-ticks.C:
		}
	}
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
