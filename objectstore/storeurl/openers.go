package storeurl

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/s3"
)

func openS3(ctx context.Context, u *url.URL, params *Params, options Options) (objectstore.Store, io.Closer, string, error) {
	o := options.S3
	params.String("endpoint", &o.Endpoint)
	params.String("region", &o.Region)
	params.Bool("path-style", &o.PathStyle)
	params.String("profile", &o.Profile)
	params.Bool("anonymous", &o.Anonymous)
	if u.Host == "" || u.Opaque != "" {
		return nil, nil, "", fmt.Errorf("%w: no bucket: write s3://bucket/prefix", objectstore.ErrInvalidOption)
	}
	o.Bucket = u.Host
	store, err := s3.New(ctx, o)
	if err != nil {
		return nil, nil, "", err
	}
	return store, nil, u.Path, nil
}

func openFile(_ context.Context, u *url.URL, params *Params, options Options) (objectstore.Store, io.Closer, string, error) {
	o := options.File
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
	if err := params.unknown(); err != nil {
		return nil, nil, "", err
	}
	store, err := file.Open(filepath.FromSlash(dir), &o)
	if err != nil {
		return nil, nil, "", err
	}
	return store, store, "", nil
}

func openMemory(_ context.Context, u *url.URL, _ *Params, options Options) (objectstore.Store, io.Closer, string, error) {
	if u.Host != "" || u.Opaque != "" {
		return nil, nil, "", fmt.Errorf("%w: %q: write memory: or memory:///prefix", objectstore.ErrInvalidOption, u.Host+u.Opaque)
	}
	return memory.New(&options.Memory), nil, u.Path, nil
}
