package s3

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/stardustdb/stardust/objectstore"
)

func hexString(b []byte) string { return hex.EncodeToString(b) }

// noBuckets is an Options.CreateBucket for handlers that need no bucket.
func noBuckets(context.Context, string) (objectstore.Store, error) {
	return nil, errors.New("no buckets")
}
