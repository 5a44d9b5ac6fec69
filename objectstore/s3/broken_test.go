package s3_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/s3"
)

func openClient(t *testing.T, endpoint string, client *http.Client) *s3.Store {
	t.Helper()
	t.Setenv("AWS_CA_BUNDLE", "") // the SDK cannot add it to a client that it did not make
	s, err := s3.New(t.Context(), s3.Options{
		Bucket: "bucket", Endpoint: endpoint, PathStyle: true, Region: "us-east-1",
		AccessKeyID: "access", SecretAccessKey: "secret", HTTPClient: client,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFailuresOfTheNetworkAreTransient(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, c := range s3test.Breakages() {
		t.Run(c.Name, func(t *testing.T) {
			endpoint, client := c.Start(t, data)
			s := openClient(t, endpoint, client)
			_, _, err := objectstore.ReadAll(t.Context(), s, "object")
			if !objectstore.IsTransient(err) {
				t.Fatalf("the first read ended with %v", err)
			}
			got, _, err := objectstore.ReadAll(t.Context(), s, "object")
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("the second read got %d bytes, %v", len(got), err)
			}
		})
	}
}

func TestServersThatAreNotTheOneAskedForAreNotTriedAgain(t *testing.T) {
	data := []byte("object")
	endpoint, _ := s3test.Breakages()[7].Start(t, data) // of TLS, by a certificate that nobody knows
	_, _, err := objectstore.ReadAll(t.Context(), openClient(t, endpoint, &http.Client{Transport: &http.Transport{}}), "object")
	if err == nil || objectstore.IsTransient(err) {
		t.Errorf("an unknown certificate: %v", err)
	}
}

func TestACanceledCallIsNotTransient(t *testing.T) {
	endpoint, client := s3test.Breakages()[4].Start(t, []byte("object"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := objectstore.ReadAll(ctx, openClient(t, endpoint, client), "object"); err == nil || objectstore.IsTransient(err) {
		t.Errorf("%v", err)
	}
}
