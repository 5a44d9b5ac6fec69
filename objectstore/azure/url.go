package azure

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// Opener opens URLs such as az://container/prefix. Their parameters account,
// endpoint and anonymous take precedence over the options.
func Opener(options Options) storeurl.Opener {
	return func(_ context.Context, u *url.URL, params *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		o := options
		params.String("account", &o.Account)
		params.String("endpoint", &o.Endpoint)
		params.Bool("anonymous", &o.Anonymous)
		if u.Host == "" || u.Opaque != "" {
			return nil, nil, "", fmt.Errorf("%w: no container: write az://container/prefix", objectstore.ErrInvalidOption)
		}
		o.Container = u.Host
		store, err := New(o)
		if err != nil {
			return nil, nil, "", err
		}
		return store, nil, u.Path, nil
	}
}
