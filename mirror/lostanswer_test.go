package mirror_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	gateway "github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/s3"
)

// losing is an S3 server that stores what it is sent and then, while armed,
// loses its answer.
type losing struct {
	http.Handler
	// lose gets the connection of a write that was stored; nil: answer.
	lose atomic.Pointer[func(conn *net.TCPConn, r *http.Request)]
}

func (l *losing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lose := l.lose.Load()
	complete := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
	put := r.Method == http.MethodPut && !r.URL.Query().Has("uploadId")
	if lose == nil || !complete && !put {
		l.Handler.ServeHTTP(w, r)
		return
	}
	l.Handler.ServeHTTP(httptest.NewRecorder(), r)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	(*lose)(conn.(*net.TCPConn), r)
	_ = conn.Close()
}

// The answer of an overwrite is lost as networks lose it: the connection is
// reset, closed, or silent until the client's time-out or the caller's patience
// ends, after the server has stored the object.
func TestOverwriteWhoseAnswerTheNetworkLosesIsReadAsTheRemoteHasIt(t *testing.T) {
	quiet := make(chan struct{})
	t.Cleanup(func() { close(quiet) })
	silence := func(*net.TCPConn, *http.Request) { <-quiet }
	for name, c := range map[string]struct {
		lose    func(conn *net.TCPConn, r *http.Request)
		client  *http.Client
		givesUp bool
	}{
		"reset":            {lose: func(conn *net.TCPConn, _ *http.Request) { _ = conn.SetLinger(0) }},
		"closed":           {lose: func(*net.TCPConn, *http.Request) {}},
		"time-out":         {lose: silence, client: &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 100 * time.Millisecond}}},
		"caller's time is": {lose: silence, givesUp: true},
	} {
		t.Run(name, func(t *testing.T) { testLostAnswer(t, c.lose, c.client, c.givesUp) })
	}
}

func testLostAnswer(t *testing.T, lose func(conn *net.TCPConn, r *http.Request), client *http.Client, givesUp bool) {
	t.Setenv("AWS_CA_BUNDLE", "") // the SDK cannot add it to a client that it did not make
	store := memory.New(nil)
	handler, err := gateway.NewHandler(store, gateway.Options{Bucket: "bucket", Anonymous: true, Credentials: map[string]string{"access": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	server := &losing{Handler: handler}
	if client == nil {
		client = &http.Client{Transport: &http.Transport{}}
	}
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	remote, err := s3.New(t.Context(), s3.Options{
		Bucket: "bucket", Endpoint: listener.URL, PathStyle: true, Region: "us-east-1",
		AccessKeyID: "access", SecretAccessKey: "secret", HTTPClient: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mirror.Open(t.Context(), t.TempDir(), remote, &mirror.KeepAll{WithoutWarming: true}, &mirror.Options{
		Backoff: objectstore.Backoff{Init: 1, Max: 1}, WithoutRemoteScan: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	for kind, overwrite := range map[string]func(ctx context.Context) error{
		"put": func(ctx context.Context) error {
			_, err := m.Put(ctx, "a/x", objectstore.Bytes([]byte("new")), nil)
			return err
		},
		"update": func(ctx context.Context) error {
			meta, err := objectstore.Head(t.Context(), remote, "a/x")
			if err != nil {
				return err
			}
			_, err = m.Put(ctx, "a/x", objectstore.Bytes([]byte("new")), &objectstore.PutOptions{
				Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: meta.ETag},
			})
			return err
		},
		"multipart": func(ctx context.Context) error {
			upload, err := m.PutMultipart(t.Context(), "a/x", nil)
			if err != nil {
				return err
			}
			if err := upload.PutPart(t.Context(), 1, objectstore.Bytes([]byte("new"))); err != nil {
				return err
			}
			_, err = upload.Complete(ctx)
			return err
		},
	} {
		server.lose.Store(nil)
		if _, err := m.Put(t.Context(), "a/x", objectstore.Bytes([]byte("old")), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server.lose.Store(new(func(conn *net.TCPConn, r *http.Request) {
			if givesUp {
				cancel()
			}
			lose(conn, r)
		}))
		err := overwrite(ctx)
		if err == nil || givesUp && !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", kind, err)
		}
		server.lose.Store(nil)
		if data, _, err := objectstore.ReadAll(t.Context(), store, "a/x"); err != nil || string(data) != "new" {
			t.Fatalf("%s: the server has %q, %v", kind, data, err)
		}
		if data, _, err := objectstore.ReadAll(t.Context(), m, "a/x"); err != nil || string(data) != "new" {
			t.Errorf("%s: the mirror has %q, %v", kind, data, err)
		}
	}
}
