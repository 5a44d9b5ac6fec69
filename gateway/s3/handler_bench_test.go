package s3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// discard is a ResponseWriter that costs nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkHandler serves signed requests of 4 KiB over a memory store, without a
// network: what the endpoint itself costs.
func BenchmarkHandler(b *testing.B) {
	const size = 4 << 10
	store := memory.New(nil)
	for i := range 1000 {
		if _, err := store.Put(b.Context(), objectstore.Path(fmt.Sprintf("dir/key-%04d", i)), objectstore.Bytes(make([]byte, size)), nil); err != nil {
			b.Fatal(err)
		}
	}
	h := newHandler(b, store, s3.Options{})
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	keys := aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}
	for _, test := range []struct {
		name, method, target string
		body                 []byte
	}{
		{"get", http.MethodGet, "/dir/key-0007", nil},
		{"head", http.MethodHead, "/dir/key-0007", nil},
		{"put", http.MethodPut, "/put", make([]byte, size)},
		{"list", http.MethodGet, "?list-type=2", nil},
	} {
		b.Run(test.name, func(b *testing.B) {
			r := httptest.NewRequest(test.method, "http://localhost/"+testBucket+test.target, bytes.NewReader(test.body))
			const payload = "UNSIGNED-PAYLOAD"
			r.Header.Set("X-Amz-Content-Sha256", payload)
			if err := signer.SignHTTP(b.Context(), keys, r, payload, "s3", "us-east-1", time.Now()); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(bytes.NewReader(test.body))
				h.ServeHTTP(discard{make(http.Header, 16)}, r)
			}
		})
	}
}
