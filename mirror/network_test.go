package mirror_test

import (
	"bytes"
	"testing"

	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/s3"
)

func TestFailuresOfTheNetworkAreRetriedForever(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, c := range s3test.Breakages() {
		t.Run(c.Name, func(t *testing.T) {
			t.Setenv("AWS_CA_BUNDLE", "") // the SDK cannot add it to a client that it did not make
			endpoint, client := c.Start(t, data)
			remote, err := s3.New(t.Context(), s3.Options{
				Bucket: "bucket", Endpoint: endpoint, PathStyle: true, Region: "us-east-1",
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
			defer func() {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := m.Handle().Fetch("a/object").Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, _, err := objectstore.ReadAll(t.Context(), m, "a/object")
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("the local copy has %d bytes, %v", len(got), err)
			}
			if stats := m.Handle().Stats(); stats.DownloadRetries == 0 || stats.Hits != 1 {
				t.Errorf("%d retries and %d hits", stats.DownloadRetries, stats.Hits)
			}
		})
	}
}
