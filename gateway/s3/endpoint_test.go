package s3_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/memory"
)

const (
	testBucket = "test-bucket"
	accessKey  = "AKIDEXAMPLE"
	secretKey  = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// endpoint is a handler behind a real listener.
type endpoint struct {
	url   string
	store objectstore.Store
}

// plainStore hides all but the Store of a store, so that the handler keeps its
// multipart uploads itself.
type plainStore struct{ objectstore.Store }

// stores are those that every client is tried against.
func stores(t *testing.T) map[string]objectstore.Store {
	t.Helper()
	files, err := file.Open(t.TempDir(), &file.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]objectstore.Store{
		"memory": memory.New(nil),
		"file":   files,
		"plain":  plainStore{memory.New(nil)},
	}
}

// start serves a store, with test keys unless the options have some.
func start(t *testing.T, store objectstore.Store, options s3.Options) *endpoint {
	t.Helper()
	e := &endpoint{store: store}
	handler := newHandler(t, store, options)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	e.url = server.URL
	return e
}

func newHandler(t testing.TB, store objectstore.Store, options s3.Options) *s3.Handler {
	t.Helper()
	if options.Credentials == nil && !options.Anonymous {
		options.Credentials = map[string]string{accessKey: secretKey}
	}
	if options.Bucket == "" && store != nil {
		options.Bucket = testBucket
	}
	handler, err := s3.NewHandler(store, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handler.Close(context.Background()); err != nil {
			t.Errorf("closing the handler: %v", err)
		}
	})
	return handler
}

// startTLS serves a store over TLS with HTTP/2, and returns a client that
// trusts it.
func startTLS(t *testing.T, store objectstore.Store, options s3.Options) (*endpoint, *http.Client) {
	t.Helper()
	server := httptest.NewUnstartedServer(newHandler(t, store, options))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	return &endpoint{url: server.URL, store: store}, server.Client()
}

// client returns an SDK client of the endpoint.
func (e *endpoint) client(options ...func(*awss3.Options)) *awss3.Client {
	return awss3.New(awss3.Options{
		BaseEndpoint: aws.String(e.url),
		Region:       "us-east-1",
		UsePathStyle: true,
		Credentials:  credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		Retryer:      aws.NopRetryer{},
	}, options...)
}

// program runs a client program with a time limit and returns its output.
func program(t *testing.T, limit time.Duration, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8"}, env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tlsClient is an HTTP client for tests of the Server's own TLS.
func tlsClient(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	}}
}
