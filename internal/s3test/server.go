package s3test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/internal/need"
)

// The server's credentials and region.
const (
	AccessKey = "stardust-test"
	SecretKey = "stardust-test-secret"
	Region    = "us-east-1"
)

// startTimeout bounds how long a server may take to answer.
const startTimeout = 30 * time.Second

// Options are the options of [Start]. Nil means the zero value.
type Options struct {
	// Dir is where the server keeps its buckets; empty means a directory that
	// goes with the test.
	Dir string
	// AccessLog is a file for S3 server access logs; empty means none.
	AccessLog string
	// CertFile and KeyFile make the server speak TLS.
	CertFile, KeyFile string
}

// Server is a running S3 server. Its methods may be called concurrently.
type Server struct {
	// Endpoint is its URL, such as http://127.0.0.1:41234. It stays the same
	// when the server stops and starts again.
	Endpoint string
	// Dir is where its buckets lie: the object a/b of the bucket x is the file
	// x/a/b.
	Dir string

	options Options
	program string
	address string

	mu      sync.Mutex
	process *exec.Cmd
	output  *bytes.Buffer
}

// Start starts a server, which stops when the test ends. It skips the test where
// versitygw is not built, and fails it when the server cannot be started.
func Start(t testing.TB, options *Options) *Server {
	t.Helper()
	s := &Server{}
	if options != nil {
		s.options = *options
	}
	s.program = need.Program(t, need.Versitygw)
	need.Ask(t, need.Attributes)
	if s.Dir = s.options.Dir; s.Dir == "" {
		s.Dir = t.TempDir()
	}
	t.Cleanup(s.Stop)
	var err error
	// Another process may take the port between its choice and its use.
	for range 5 {
		if s.address, err = freeAddress(); err != nil {
			t.Fatal(err)
		}
		if err = s.Restart(t.Context()); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// Restart starts the server again, at the same endpoint, after Stop; it stops it
// first when it runs.
func (s *Server) Restart(ctx context.Context) error {
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{"--port", s.address, "--access", AccessKey, "--secret", SecretKey, "--region", Region, "--quiet", "--keep-alive"}
	s.Endpoint = "http://" + s.address
	if s.options.CertFile != "" {
		args = append(args, "--cert", s.options.CertFile, "--key", s.options.KeyFile)
		s.Endpoint = "https://" + s.address
	}
	if s.options.AccessLog != "" {
		args = append(args, "--access-log", s.options.AccessLog)
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return err
	}
	args = append(args, "posix", s.Dir)
	s.output = &bytes.Buffer{}
	s.process = exec.Command(s.program, args...)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		s.process = nil
		return err
	}
	if err := s.waitReady(ctx); err != nil {
		s.stop()
		return fmt.Errorf("starting %s: %w\n%s", s.program, err, s.output)
	}
	return nil
}

// waitReady returns once the server answers a request, or its process has ended.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", s.address, err)
		case <-ticks.C:
		}
	}
}

// Stop kills the server, as a crash would, and waits for its process.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

func (s *Server) stop() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // it was killed: the error says so
	s.process = nil
}

// Bucket makes a bucket, unless there is one of that name, and returns its name.
func (s *Server) Bucket(t testing.TB, name string) string {
	t.Helper()
	_, err := s.Client().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name)})
	if err != nil && !strings.Contains(err.Error(), "BucketAlready") {
		t.Fatalf("create bucket %q: %v", name, err)
	}
	return name
}

// Client returns an SDK client of the server.
func (s *Server) Client() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint),
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
		UsePathStyle: true,
		HTTPClient:   http.DefaultClient,
	})
}
