package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/prefix"
	"github.com/stardustdb/stardust/objectstore/retry"
)

// Options are how a [Registry] opens stores. The zero value will do.
type Options struct {
	// Retry makes stores repeat what failed for a transient reason; nil means
	// that they do not.
	Retry *retry.Options
}

// An Opener opens the stores of one scheme. It takes the parameters that it
// knows from params; if others are left, the URL is refused and the store
// closed. An Opener that makes things, such as a directory, calls params.Err
// first. The closer may be nil. prefix is the part of the URL that names
// objects.
type Opener func(ctx context.Context, u *url.URL, params *Params) (store objectstore.Store, closer io.Closer, prefix string, err error)

// Registry is the schemes that can be opened. The zero value knows none. It must
// not be added to while it is used.
type Registry struct{ schemes map[string]Opener }

// Register adds a scheme, replacing one of the same name.
func (r *Registry) Register(scheme string, open Opener) {
	if r.schemes == nil {
		r.schemes = map[string]Opener{}
	}
	r.schemes[scheme] = open
}

// Schemes returns the names of all schemes, sorted.
func (r *Registry) Schemes() []string {
	names := make([]string, 0, len(r.schemes))
	for name := range r.schemes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Open opens the store of a URL. A path that begins with "/", "./" or "../" is
// taken for a file URL. The caller closes the closer when it is done with the
// store. A URL that cannot be opened is ErrInvalidOption; the error says what
// is wrong with it and what would be valid.
func (r *Registry) Open(ctx context.Context, rawURL string, options *Options) (objectstore.Store, io.Closer, error) {
	if options == nil {
		options = &Options{}
	}
	store, closer, err := r.open(ctx, rawURL, *options)
	if err != nil {
		return nil, nil, &objectstore.Error{Op: objectstore.OpOpen, Store: redact(rawURL), Err: err}
	}
	return store, closer, nil
}

func (r *Registry) open(ctx context.Context, rawURL string, options Options) (objectstore.Store, io.Closer, error) {
	u, err := parse(rawURL)
	if err != nil {
		return nil, nil, err
	}
	open := r.schemes[u.Scheme]
	switch {
	case open == nil:
		return nil, nil, fmt.Errorf("%w: scheme %q; known are %s", objectstore.ErrInvalidOption, u.Scheme, strings.Join(r.Schemes(), ", "))
	case u.User != nil:
		return nil, nil, fmt.Errorf("%w: credentials do not belong in a URL: pass them in the environment", objectstore.ErrInvalidOption)
	case u.Fragment != "":
		return nil, nil, fmt.Errorf("%w: %q after a #: write %%23 for a # in a name", objectstore.ErrInvalidOption, u.Fragment)
	}
	params, err := newParams(u.RawQuery)
	if err != nil {
		return nil, nil, err
	}
	store, closer, below, err := open(ctx, u, params)
	if closer == nil {
		closer = nothing{}
	}
	if err == nil {
		err = params.Err()
	}
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	if options.Retry != nil {
		store = retry.New(store, *options.Retry)
	}
	if below = strings.Trim(below, "/"); below != "" {
		path, err := objectstore.ParsePath(below)
		if err != nil {
			return nil, nil, errors.Join(err, closer.Close())
		}
		store = prefix.New(store, path)
	}
	return store, closer, nil
}

// parse makes a URL of what people write.
func parse(rawURL string) (*url.URL, error) {
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(rawURL, start) || rawURL == "." || rawURL == ".." {
			return &url.URL{Scheme: "file", Path: rawURL, OmitHost: true}, nil
		}
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // its text repeats the URL, perhaps with a secret
		}
		return nil, fmt.Errorf("%w: not a URL: %w", objectstore.ErrInvalidOption, err)
	}
	if u.Scheme == "" {
		return nil, fmt.Errorf("%w: no scheme such as file: or s3: at its beginning", objectstore.ErrInvalidOption)
	}
	return u, nil
}

// redact leaves out a password.
func redact(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "something that is no URL"
	}
	return u.Redacted()
}

type nothing struct{}

func (nothing) Close() error { return nil }
