package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	clients  = 200
	bodySize = 1 << 20
	// maxMemory is what a server may take, whatever its clients do.
	maxMemory = 256 << 20
)

// target is what a load works on.
type target struct {
	put func(name string, body []byte) error
	get func(name string) (int64, error)
	cpu func() time.Duration // that it took so far
}

// errBusy says that the target took no more work just then.
var errBusy = errors.New("busy")

// content returns bytes like no others: no chunk is stored already.
func content(base []byte, n uint64) []byte {
	body := bytes.Clone(base)
	for i := 0; i < len(body); i += 16 << 10 {
		binary.LittleEndian.PutUint64(body[i:], n)
	}
	return body
}

// measure writes with all clients for a while, and then reads what was written.
func measure(t *testing.T, d time.Duration, to *target) figures {
	t.Helper()
	base := make([]byte, bodySize)
	for i := range base {
		base[i] = byte(rand.Uint32())
	}
	var f figures
	var names []string
	var mu sync.Mutex
	var count atomic.Uint64
	run := func(work func() (int64, error)) (rate, seconds float64) {
		var total atomic.Int64
		before, began := to.cpu(), time.Now()
		end := began.Add(d)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for time.Now().Before(end) {
					n, err := work()
					total.Add(n)
					switch {
					case errors.Is(err, errBusy):
						atomic.AddInt64(&f.Refused, 1)
						time.Sleep(50 * time.Millisecond) //nolint:forbidigo // as a client does
					case err != nil:
						if atomic.AddInt64(&f.Failed, 1) < 5 {
							t.Log(err)
						}
					}
				}
			})
		}
		group.Wait()
		took := time.Since(began).Seconds()
		return float64(total.Load()) / took, (to.cpu() - before).Seconds() / float64(max(total.Load(), 1)) * (1 << 30)
	}
	f.WriteBytes, f.WriteSeconds = run(func() (int64, error) {
		n := count.Add(1)
		name := fmt.Sprintf("load/%d/%d", n%97, n)
		if err := to.put(name, content(base, n)); err != nil {
			return 0, err
		}
		mu.Lock()
		names = append(names, name)
		mu.Unlock()
		return bodySize, nil
	})
	if len(names) == 0 {
		t.Fatal("nothing was written")
	}
	f.ReadBytes, f.ReadSeconds = run(func() (int64, error) {
		n, err := to.get(names[rand.IntN(len(names))])
		if err == nil && n != bodySize {
			err = fmt.Errorf("%d bytes were read", n)
		}
		return n, err
	})
	return f
}

// manyConnections is a client with a connection for each of a load's clients.
func manyConnections(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConns: 2 * clients, MaxIdleConnsPerHost: 2 * clients, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func do(c *http.Client, r *http.Request) (int64, error) {
	resp, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	n, err := io.Copy(struct{ io.Writer }{io.Discard}, resp.Body)
	if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests {
		return 0, errBusy
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return 0, errors.New(resp.Status)
	}
	return n, err
}

// plain speaks to files under an address, which the JSON API and WebDAV have alike.
func plain(ctx context.Context, c *http.Client, base string) *target {
	return &target{
		put: func(name string, body []byte) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPut, base+name, bytes.NewReader(body))
			if err != nil {
				return err
			}
			_, err = do(c, r)
			return err
		},
		get: func(name string) (int64, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+name, nil)
			if err != nil {
				return 0, err
			}
			return do(c, r)
		},
	}
}

// presigned speaks S3 with presigned URLs, so that signing takes the test's time once.
func presigned(t *testing.T, c *http.Client, base string) *target {
	t.Helper()
	s3, err := minio.New(base[len("http://"):len(base)-1], &minio.Options{Creds: credentials.NewStaticV4(accessKey, secretKey, ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath})
	if err != nil {
		t.Fatal(err)
	}
	request := func(method, name string, body io.Reader) (*http.Request, error) {
		u, err := s3.Presign(t.Context(), method, "load", name[len("load/"):], time.Hour, nil)
		if err != nil {
			return nil, err
		}
		return http.NewRequestWithContext(t.Context(), method, u.String(), body)
	}
	return &target{
		put: func(name string, body []byte) error {
			r, err := request(http.MethodPut, name, bytes.NewReader(body))
			if err != nil {
				return err
			}
			_, err = do(c, r)
			return err
		},
		get: func(name string) (int64, error) {
			r, err := request(http.MethodGet, name, nil)
			if err != nil {
				return 0, err
			}
			return do(c, r)
		},
	}
}

// Two hundred clients at once, by each protocol: the server's memory stays bounded,
// nothing fails, and the rate is not far from the library's own.
func TestTwoHundredClients(t *testing.T) {
	d := phase(t)
	s := start(t)
	ctx := t.Context()
	if err := plain(ctx, http.DefaultClient, s.base+"v1/directories/").put("load", nil); err != nil {
		t.Fatal(err)
	}
	if err := plain(ctx, http.DefaultClient, s.base+"v1/files/").put("load/97", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for i := range 97 {
		if err := plain(ctx, http.DefaultClient, s.base+"v1/directories/").put(fmt.Sprintf("load/%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	own := library(t, d)
	t.Logf("library: %+v", own)
	c := manyConnections(t)
	for name, to := range map[string]*target{
		"JSON API": plain(ctx, c, s.base+"v1/files/"),
		"S3":       presigned(t, c, s.base),
		"WebDAV":   plain(ctx, c, s.base+"dav/"),
	} {
		to.cpu = s.cpu
		_ = s.memory()
		f := measure(t, d, to)
		most := s.memory()
		t.Logf("%s: %.0f MiB of memory; %+v\n  writes %.2f of the library's rate, %.2f of its processor time; reads %.2f, %.2f", name, float64(most)/(1<<20), f,
			f.WriteBytes/own.WriteBytes, f.WriteSeconds/own.WriteSeconds, f.ReadBytes/own.ReadBytes, f.ReadSeconds/own.ReadSeconds)
		if f.Failed > 0 {
			t.Errorf("%s: %d requests failed", name, f.Failed)
		}
		if most > maxMemory {
			t.Errorf("%s: %d MiB of memory", name, most>>20)
		}
	}
}
