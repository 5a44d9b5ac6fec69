package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/objectstore/s3"
)

// The keys, the region and the bucket of the S3 servers that the cases start.
const (
	benchAccess = "bench-access"
	benchSecret = "bench-secret"
	benchRegion = "us-east-1"
	benchBucket = "bench"
)

// versitygw is an S3 server in a process of its own, over a directory.
type versitygw struct {
	endpoint string
	process  *exec.Cmd
}

// startVersitygw starts a server with an empty bucket; nil when versitygw is not
// built. The caller stops it.
func (b *bench) startVersitygw() (*versitygw, error) {
	program := os.Getenv("STARDUST_VERSITYGW")
	if program == "" {
		program = filepath.Join("bin", "versitygw")
	}
	program, err := exec.LookPath(program)
	if err != nil {
		fmt.Fprintln(os.Stderr, "versitygw is not built (make deps) and takes no part")
		return nil, nil
	}
	dir, err := os.MkdirTemp(b.dir, "versitygw-")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(b.ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.ctx, program, "--port", address, "--access", benchAccess, "--secret", benchSecret,
		"--region", benchRegion, "--quiet", "--keep-alive", "posix", dir)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	server := &versitygw{"http://" + address, cmd}
	err = waitForListener(b.ctx, address)
	if err == nil {
		_, err = server.client().CreateBucket(b.ctx, &awss3.CreateBucketInput{Bucket: aws.String(benchBucket)})
	}
	if err != nil {
		server.stop()
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return server, nil
}

// stop ends the process and waits for it.
func (s *versitygw) stop() {
	_ = s.process.Process.Kill() // it may have ended
	_ = s.process.Wait()
}

func (s *versitygw) client() *awss3.Client {
	return awss3.New(awss3.Options{
		BaseEndpoint: aws.String(s.endpoint), Region: benchRegion, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(benchAccess, benchSecret, ""),
	})
}

func (s *versitygw) store(ctx context.Context) (*s3.Store, error) {
	return openS3(ctx, s.endpoint, benchBucket)
}

func openS3(ctx context.Context, endpoint, bucket string) (*s3.Store, error) {
	return s3.New(ctx, s3.Options{
		Endpoint: endpoint, Bucket: bucket, Region: benchRegion, PathStyle: true,
		AccessKeyID: benchAccess, SecretAccessKey: benchSecret,
	})
}

// freeAddress returns an address that nobody listens on now.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func waitForListener(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", address, err)
		case <-ticks.C:
		}
	}
}

// serve serves a handler on the loopback interface until the returned function
// is called.
func (b *bench) serve(serve func(context.Context, net.Listener) error) (url string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(b.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve(ctx, listener); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	return "http://" + listener.Addr().String(), func() { cancel(); <-done }, nil
}

// serveHTTP serves a handler with net/http's own defaults.
func serveHTTP(handler http.Handler) func(context.Context, net.Listener) error {
	return func(ctx context.Context, listener net.Listener) error {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
		stop := context.AfterFunc(ctx, func() { server.Close() })
		defer stop()
		return server.Serve(listener)
	}
}
