package memory

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// Opener opens URLs such as memory: or memory:///prefix, each a new store.
func Opener(options Options) storeurl.Opener {
	return func(_ context.Context, u *url.URL, _ *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		if u.Host != "" || u.Opaque != "" {
			return nil, nil, "", fmt.Errorf("%w: %q: write memory: or memory:///prefix", objectstore.ErrInvalidOption, u.Host+u.Opaque)
		}
		return New(&options), nil, u.Path, nil
	}
}
