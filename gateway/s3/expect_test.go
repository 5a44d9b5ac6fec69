package s3_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// signed returns a request to the endpoint with a signature in its header, for
// what SDKs don't let one send.
func signed(t *testing.T, e *endpoint, method, target, payload string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, e.url+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Content-Sha256", payload)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	err = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }).SignHTTP(t.Context(),
		aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, r, payload, "s3", "us-east-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEmptyBodyIsToldToContinue: botocore keeps a wrong state of its connection
// when a server that it asked to say 100 Continue does not.
func TestEmptyBodyIsToldToContinue(t *testing.T) {
	e := start(t, memory.New(nil), s3.Options{})
	r := signed(t, e, http.MethodPut, "/"+testBucket+"/empty", "UNSIGNED-PAYLOAD", "Expect", "100-continue")
	conn, err := net.Dial("tcp", hostOf(t, e.url))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n", r.URL.Path, r.Host)
	for name, values := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", name, values[0])
	}
	if _, err := conn.Write([]byte(b.String() + "\r\n")); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for _, want := range []int{http.StatusContinue, http.StatusOK} {
		response, err := http.ReadResponse(reader, r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("status %d, want %d", response.StatusCode, want)
		}
	}
}
