package s3_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/s3"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// open returns the store in a bucket of a real server.
func open(t *testing.T, server *s3test.Server, bucket string) *s3.Store {
	t.Helper()
	s, err := s3.New(t.Context(), s3.Options{
		Bucket: server.Bucket(t, bucket), Endpoint: server.Endpoint, Region: s3test.Region,
		AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreConforms(t *testing.T) {
	server := s3test.Start(t, nil)
	var buckets atomic.Int64
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		return open(t, server, fmt.Sprintf("bucket-%d", buckets.Add(1)))
	}, storetest.Features{
		LooseDelete: true,
		// What the server's file system cannot hold.
		NoNesting: true, MaxSegment: 255, LooseKeyPaths: true, NoDotPaths: true,
		// It takes the completion of an aborted upload for a repeated one.
		LooseUploads: true,
		MinPartSize:  5 << 20,
	})
}
