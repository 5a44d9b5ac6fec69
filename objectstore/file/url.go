package file

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// Opener opens URLs such as file:///directory or file:relative/directory. Their
// parameters create and sync take precedence over the options.
func Opener(options Options) storeurl.Opener {
	return func(_ context.Context, u *url.URL, params *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		o := options
		create, sync := !o.MustExist, !o.NoSync
		params.Bool("create", &create)
		params.Bool("sync", &sync)
		o.MustExist, o.NoSync = !create, !sync
		dir := u.Path
		if u.Opaque != "" {
			var err error
			if dir, err = url.PathUnescape(u.Opaque); err != nil {
				return nil, nil, "", fmt.Errorf("%w: %w", objectstore.ErrInvalidOption, err)
			}
		}
		switch {
		case u.Host != "" && u.Host != "localhost":
			return nil, nil, "", fmt.Errorf("%w: host %q: write file:///%s%s for a directory, or file:%s%s for one that is relative",
				objectstore.ErrInvalidOption, u.Host, u.Host, u.Path, u.Host, u.Path)
		case dir == "":
			return nil, nil, "", fmt.Errorf("%w: no directory: write file:///directory", objectstore.ErrInvalidOption)
		}
		// A directory must not appear because of a parameter that is refused.
		if err := params.Err(); err != nil {
			return nil, nil, "", err
		}
		store, err := Open(filepath.FromSlash(dir), &o)
		if err != nil {
			return nil, nil, "", err
		}
		return store, store, "", nil
	}
}
