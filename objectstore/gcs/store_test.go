package gcs_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/internal/gcstest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/gcs"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// open returns the store in a new bucket of an emulator.
func open(t *testing.T, server *gcstest.Server, bucket string) *gcs.Store {
	t.Helper()
	s, err := gcs.New(t.Context(), gcs.Options{Bucket: server.Bucket(t, bucket), Endpoint: server.Endpoint, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreConforms(t *testing.T) {
	server := gcstest.Start(t)
	var buckets atomic.Int64
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		return open(t, server, fmt.Sprintf("bucket-%d", buckets.Add(1)))
	}, storetest.Features{LooseKeyPaths: true, NoTags: true})
}
