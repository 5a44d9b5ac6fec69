package s3_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func TestShutdownFinishesRequestsInProgress(t *testing.T) {
	inner := memory.New(nil)
	if _, err := inner.Put(t.Context(), "k", objectstore.Bytes([]byte("hello")), nil); err != nil {
		t.Fatal(err)
	}
	store := gate{inner, make(chan struct{}), make(chan struct{})}
	server := s3.NewServer(newHandler(t, store, s3.Options{Anonymous: true}), s3.ServerOptions{})
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	e := &endpoint{url: "http://" + listener.Addr().String()}
	got := make(chan answered, 1)
	go func() { got <- do(t, plain(t, e, http.MethodGet, "/"+testBucket+"/k", nil)) }()
	<-store.entered
	cancel()
	select {
	case err := <-served:
		t.Fatalf("Serve returned with a request in progress: %v", err)
	default:
	}
	close(store.leave)
	if a := <-got; a.status != 200 || string(a.body) != "hello" {
		t.Errorf("the request in progress: %d %s", a.status, a.body)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestShutdownDoesNotWaitForEver(t *testing.T) {
	store := gate{memory.New(nil), make(chan struct{}), make(chan struct{})}
	server := s3.NewServer(newHandler(t, store, s3.Options{Anonymous: true}), s3.ServerOptions{ShutdownTimeout: time.Millisecond})
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if response, err := http.Get("http://" + listener.Addr().String() + "/" + testBucket + "/k"); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-store.entered
	cancel()
	if err := <-served; err == nil {
		t.Error("no error though a request was cut off")
	}
	close(store.leave)
	<-done
}

func TestTLSServesHTTP2(t *testing.T) {
	// httptest has a certificate to lend.
	lender := httptest.NewTLSServer(http.NotFoundHandler())
	defer lender.Close()
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	store := memory.New(nil)
	if _, err := store.Put(t.Context(), "k", objectstore.Bytes([]byte("hello")), nil); err != nil {
		t.Fatal(err)
	}
	server := s3.NewServer(newHandler(t, store, s3.Options{Anonymous: true}), s3.ServerOptions{
		TLS: &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12},
	})
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	client := tlsClient(&tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12})
	response, err := client.Get("https://" + listener.Addr().String() + "/" + testBucket + "/k")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || string(body) != "hello" || response.ProtoMajor != 2 {
		t.Errorf("%s: %q, %v", response.Proto, body, err)
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
