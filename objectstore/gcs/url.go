package gcs

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// Opener opens URLs such as gs://bucket/prefix. Their parameters endpoint and
// anonymous take precedence over the options.
func Opener(options Options) storeurl.Opener {
	return func(ctx context.Context, u *url.URL, params *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		o := options
		params.String("endpoint", &o.Endpoint)
		params.Bool("anonymous", &o.Anonymous)
		if u.Host == "" || u.Opaque != "" {
			return nil, nil, "", fmt.Errorf("%w: no bucket: write gs://bucket/prefix", objectstore.ErrInvalidOption)
		}
		o.Bucket = u.Host
		store, err := New(ctx, o)
		if err != nil {
			return nil, nil, "", err
		}
		return store, nil, u.Path, nil
	}
}
