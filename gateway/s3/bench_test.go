package s3_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

var benchSize = flag.Int64("s3-size", 256<<20, "size in bytes of the object of BenchmarkGet")

// BenchmarkGet compares signed GETs through the handler, over a file store,
// with net/http's file server over the same file, in turns, so that all meet
// the same machine. It reports the handler's share of the file server's speed:
// "ratio" where both get the same request, "ratio-bare" where the file server's
// has no signature, so that net/http has less to parse for it.
func BenchmarkGet(b *testing.B) {
	dir := b.TempDir()
	store, err := file.Open(dir, &file.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	zero, err := os.Open("/dev/zero")
	if err != nil {
		b.Fatal(err)
	}
	defer zero.Close()
	if _, err := store.Put(context.Background(), "large", objectstore.Stream(io.LimitReader(zero, *benchSize), *benchSize), nil); err != nil {
		b.Fatal(err)
	}
	ours := httptest.NewServer(newHandler(b, store, s3.Options{}))
	defer ours.Close()
	theirs := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer theirs.Close()
	if _, err := os.Stat(filepath.Join(dir, "large")); err != nil {
		b.Fatal(err)
	}
	for _, size := range []int64{4 << 10, 64 << 10, *benchSize} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			getters := []*getter{
				newGetter(b, ours.URL+"/"+testBucket+"/large", true),
				newGetter(b, theirs.URL+"/large", true),
				newGetter(b, theirs.URL+"/large", false),
			}
			const batch = 50
			var same, bare []float64
			b.SetBytes(size)
			for b.Loop() {
				n := int64(1)
				if size < 1<<20 {
					n = batch
				}
				var took [3]time.Duration
				for i, g := range getters {
					begun := time.Now()
					for k := range n {
						g.get(b, k*size, size)
					}
					took[i] = time.Since(begun)
				}
				same = append(same, took[1].Seconds()/took[0].Seconds())
				bare = append(bare, took[2].Seconds()/took[0].Seconds())
			}
			b.ReportMetric(median(same), "ratio")
			b.ReportMetric(median(bare), "ratio-bare")
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// getter sends GETs over one connection of its own, with no more than it takes
// to read the answers: the client must not be what is measured.
type getter struct {
	conn   net.Conn
	reader *bufio.Reader
	head   []byte // the request up to its Range
	buffer []byte
}

func newGetter(b *testing.B, url string, sign bool) *getter {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	if sign {
		// The Range is left out of the signature, as S3 allows, so that the
		// client need not sign every request.
		const payload = "UNSIGNED-PAYLOAD"
		r.Header.Set("X-Amz-Content-Sha256", payload)
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		keys := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
		if err := signer.SignHTTP(context.Background(), keys, r, payload, "s3", "us-east-1", time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "GET %s HTTP/1.1\r\nHost: %s\r\n", r.URL.Path, r.Host)
	_ = r.Header.Write(&head)
	conn, err := net.Dial("tcp", r.Host)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &getter{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10), head: head.Bytes(), buffer: make([]byte, 1<<20)}
}

func (g *getter) get(b *testing.B, offset, size int64) {
	if _, err := fmt.Fprintf(g.conn, "%sRange: bytes=%d-%d\r\n\r\n", g.head, offset, offset+size-1); err != nil {
		b.Fatal(err)
	}
	status, err := g.reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(status, "HTTP/1.1 206") {
		b.Fatalf("%s: %v", status, err)
	}
	for line := status; len(line) > 2; {
		if line, err = g.reader.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	for left := size; left > 0; {
		n, err := g.reader.Read(g.buffer[:min(left, int64(len(g.buffer)))])
		if err != nil {
			b.Fatal(err)
		}
		left -= int64(n)
	}
}
