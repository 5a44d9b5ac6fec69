package sidecar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/stardustdb/stardust/internal/logtest"
	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	objectmetrics "github.com/stardustdb/stardust/objectstore/metrics"
	"github.com/stardustdb/stardust/objectstore/s3"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// proxy stands between a sidecar and a real S3 server. Armed, it passes one
// write on, lets the server answer, and breaks the client's connection in place of
// the answer.
type proxy struct {
	*httputil.ReverseProxy
	lose atomic.Pointer[func()]
	lost atomic.Int64
}

func newProxy(t *testing.T, server string) (*proxy, string) {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ReverseProxy: &httputil.ReverseProxy{
		// The host is signed and stays.
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host },
	}}
	listener := httptest.NewServer(p)
	t.Cleanup(listener.Close)
	return p, listener.URL
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lose := p.lose.Load()
	complete := r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
	put := r.Method == http.MethodPut && !r.URL.Query().Has("uploadId")
	if lose == nil || !complete && !put {
		p.ReverseProxy.ServeHTTP(w, r)
		return
	}
	// The write ends at the server whether or not its client waits.
	p.ReverseProxy.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	p.lost.Add(1)
	(*lose)()
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// upstreamOf opens a bucket of an S3 server, with a client that repeats nothing.
func upstreamOf(t *testing.T, endpoint, bucket string) objectstore.Store {
	t.Helper()
	store, err := s3.New(t.Context(), s3.Options{
		Bucket: bucket, Endpoint: endpoint, PathStyle: true, Region: s3test.Region,
		AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func mirroring(t *testing.T, upstream objectstore.Store, policy mirror.Policy) Options {
	o := options(t, nil)
	o.Upstream, o.Database, o.Policy = upstream, nil, policy
	o.Mirror.WithoutRemoteScan = true
	return o
}

// An answer that never comes leaves nobody with the old object: not the client
// that reads next, nor one that compares and swaps.
func TestAfterAnOverwriteWhoseAnswerIsLostClientsReadWhatTheServerHas(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "")
	server := s3test.Start(t, nil)
	bucket := server.Bucket(t, "upstream")
	faults, endpoint := newProxy(t, server.Endpoint)
	lru, err := mirror.NewLRU(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range map[string]mirror.Policy{"all": &mirror.KeepAll{WithoutWarming: true}, "lru": lru} {
		t.Run(name, func(t *testing.T) {
			s, client, _ := serve(t, mirroring(t, upstreamOf(t, endpoint, bucket), policy))
			<-s.Ready()
			for kind, overwrite := range overwrites() {
				key := name + "/" + strings.ReplaceAll(kind, " ", "-")
				faults.lose.Store(nil)
				if err := put(t, client, key, []byte("old")); err != nil {
					t.Fatal(err)
				}
				if got, err := get(t, client, key); err != nil || string(got) != "old" {
					t.Fatalf("%s: %q, %v", kind, got, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				before := faults.lost.Load()
				faults.lose.Store(new(func() {
					if strings.Contains(kind, "gives up") {
						cancel()
					}
				}))
				err := overwrite(ctx, t, client, key)
				cancel()
				faults.lose.Store(nil)
				if err == nil || faults.lost.Load() == before {
					t.Fatalf("%s: the answer was not lost: %v", kind, err)
				}
				// The sidecar may learn a little later that its client gave up;
				// until then the write is under way, and a read before it is right.
				got, err := get(t, client, key)
				for deadline := time.Now().Add(20 * time.Second); err == nil && string(got) == "old" && strings.Contains(kind, "gives up") && time.Now().Before(deadline); {
					got, err = get(t, client, key)
				}
				if err != nil || string(got) != "new" {
					t.Errorf("%s: the sidecar serves %q, %v", kind, got, err)
				}
				// Read, compare and swap works again.
				head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
					Bucket: aws.String("mirror"), Key: aws.String(key), Body: strings.NewReader("newer"), IfMatch: head.ETag,
				}); err != nil {
					t.Errorf("%s: compare and swap: %v", kind, err)
				}
			}
		})
	}
}

// overwrites are the ways to write "new" over an object.
func overwrites() map[string]func(ctx context.Context, t *testing.T, client *awss3.Client, key string) error {
	plain := func(ctx context.Context, _ *testing.T, client *awss3.Client, key string) error {
		_, err := client.PutObject(ctx, &awss3.PutObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key), Body: strings.NewReader("new")})
		return err
	}
	return map[string]func(ctx context.Context, t *testing.T, client *awss3.Client, key string) error{
		"put":                       plain,
		"put whose client gives up": plain,
		"compare and swap": func(ctx context.Context, t *testing.T, client *awss3.Client, key string) error {
			head, err := client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.PutObject(ctx, &awss3.PutObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key), Body: strings.NewReader("new"), IfMatch: head.ETag})
			return err
		},
		"multipart": func(ctx context.Context, t *testing.T, client *awss3.Client, key string) error {
			created, err := client.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String("mirror"), Key: aws.String(key)})
			if err != nil {
				t.Fatal(err)
			}
			part, err := client.UploadPart(t.Context(), &awss3.UploadPartInput{
				Bucket: aws.String("mirror"), Key: aws.String(key), UploadId: created.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("new"),
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.CompleteMultipartUpload(ctx, &awss3.CompleteMultipartUploadInput{
				Bucket: aws.String("mirror"), Key: aws.String(key), UploadId: created.UploadId,
				MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.ETag}}},
			})
			return err
		},
	}
}

// Clients repeat a 500 for ever; a bucket that does not exist is a 404, and keeps
// the sidecar from being ready.
func TestAMissingUpstreamBucketIsToldAndNeverReady(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "")
	server := s3test.Start(t, nil)
	lru, err := mirror.NewLRU(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	o := mirroring(t, upstreamOf(t, server.Endpoint, "no-such-bucket"), lru)
	warmed := make(chan struct{}, 100)
	o.Upstream = listWatcher{o.Upstream, warmed}
	_, client, url := serve(t, o)
	<-warmed
	if status, text := page(t, url+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, text)
	}
	for name, call := range map[string]func() error{
		"head": func() error {
			_, err := client.HeadBucket(t.Context(), &awss3.HeadBucketInput{Bucket: aws.String("mirror")})
			return err
		},
		"get": func() error { _, err := get(t, client, "x"); return err },
		"put": func() error {
			_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("mirror"), Key: aws.String("x"), Body: bytes.NewReader(nil)})
			return err
		},
		"list": func() error {
			_, err := client.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("mirror")})
			return err
		},
	} {
		var api smithy.APIError
		if err := call(); !errors.As(err, &api) || api.ErrorCode() != "NoSuchBucket" && api.ErrorCode() != "NotFound" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// listWatcher tells when the first list has begun.
type listWatcher struct {
	objectstore.Store
	begun chan struct{}
}

func (l listWatcher) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	select {
	case l.begun <- struct{}{}:
	default:
	}
	return l.Store.List(ctx, options)
}

func TestPagesCanOnlyBeRead(t *testing.T) {
	u := newUpstream(t)
	_, _, url := serve(t, options(t, u))
	for _, name := range pageNames() {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			r, err := http.NewRequestWithContext(t.Context(), method, url+"/"+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, name, response.StatusCode)
			}
		}
	}
}

func TestCallsToTheUpstreamAreCountedAndLogged(t *testing.T) {
	u := newUpstream(t)
	o := options(t, u)
	o.Database, o.Policy = nil, &mirror.KeepAll{WithoutWarming: true}
	var log logtest.Log
	o.Logger = log.Logger(slog.LevelDebug)
	s, client, url := serve(t, o)
	<-s.Ready()
	if err := put(t, client, "one", bytes.Repeat([]byte("1"), 1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, client, "missing"); err == nil {
		t.Fatal("a missing object was found")
	}
	_, metrics := page(t, url+"/metrics")
	for _, line := range []string{
		`stardust_objectstore_requests_total{op="put",result="ok",store="upstream"} 1`,
		`stardust_objectstore_requests_total{op="get",result="not_found",store="upstream"} 1`,
		`stardust_objectstore_bytes_total{direction="sent",store="upstream"} 1000`,
		`stardust_objectstore_requests_in_flight{op="get",store="upstream"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics has no %s", line)
		}
	}
	for _, part := range []string{"op=put path=one", "op=get path=missing", "bytes=1000"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log has no %s", part)
		}
	}
}

func TestTheUpstreamIsCalledWithinTheBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, most := storetest.Slow(memory.New(nil), time.Second)
		o := Options{Upstream: slow, UpstreamCalls: 2, UpstreamBytesPerSecond: 1 << 20, Logger: slog.New(slog.DiscardHandler)}
		store := o.upstream(objectmetrics.NewCollectors(nil))
		begin := time.Now()
		var puts sync.WaitGroup
		for i := range 6 {
			puts.Go(func() {
				if _, err := store.Put(t.Context(), objectstore.Path(fmt.Sprint(i)), objectstore.Bytes(nil), nil); err != nil {
					t.Error(err)
				}
			})
		}
		puts.Wait()
		if took := time.Since(begin); most() != 2 || took != 3*time.Second {
			t.Errorf("%d ran at once, in %v; want 2, in 3s", most(), took)
		}
		begin = time.Now()
		if _, err := store.Put(t.Context(), "large", objectstore.Bytes(make([]byte, 4<<20)), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("4 MiB at 1 MiB a second took %v", took)
		}
	})
}
