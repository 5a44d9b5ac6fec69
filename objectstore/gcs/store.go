package gcs

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/stardustdb/stardust/objectstore"
)

// How long a server may take to be reached and to begin its answer.
const (
	dialTimeout   = 10 * time.Second
	answerTimeout = time.Minute
)

// Store is a bucket. It may be used concurrently and needs no closing.
type Store struct {
	client *http.Client
	base   string // of the API
	upload string // of uploads
	bucket string
	name   string
	now    func() time.Time
}

var (
	_ objectstore.Store          = (*Store)(nil)
	_ objectstore.MultipartStore = (*Store)(nil)
)

// New returns the store of a bucket. It looks for credentials but sends
// nothing: a bucket that is missing shows at the first call. It returns
// ErrInvalidOption for invalid options, and ErrUnauthenticated without
// credentials.
func New(ctx context.Context, options Options) (*Store, error) {
	o, err := options.normal()
	if err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpOpen, Store: "gs://" + options.Bucket, Err: err}
	}
	s := &Store{
		base:   o.Endpoint + "/storage/v1",
		upload: o.Endpoint + "/upload/storage/v1",
		bucket: o.Bucket, name: "gs://" + o.Bucket, now: o.Now,
	}
	if o.Endpoint != defaultEndpoint {
		s.name += "?endpoint=" + o.Endpoint
	}
	if s.client, err = client(ctx, o); err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpOpen, Store: s.name, Err: err}
	}
	return s, nil
}

// client returns the HTTP client that adds the credentials.
func client(ctx context.Context, o Options) (*http.Client, error) {
	if o.HTTPClient != nil && o.Tokens == nil {
		return o.HTTPClient, nil
	}
	plain := o.HTTPClient
	if plain == nil {
		plain = &http.Client{Transport: transport()}
	}
	if o.Anonymous {
		return plain, nil
	}
	// Tokens are fetched, again and again, by requests of this client, and
	// outlive the context of New.
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, plain)
	if o.Tokens == nil {
		credentials, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", objectstore.ErrUnauthenticated, err)
		}
		o.Tokens = credentials.TokenSource
	}
	return oauth2.NewClient(ctx, o.Tokens), nil
}

// transport returns a transport that notices when a server does not answer, and
// leaves compressed objects as they are.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   64,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

// String returns the bucket's URL, with the endpoint when it is not Google's.
func (s *Store) String() string { return s.name }

func (s *Store) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.name, Path: string(path), Err: classify(err)}
}

// check refuses what cannot be sent to the service.
func check(ctx context.Context, paths ...objectstore.Path) error {
	return objectstore.CheckPaths(ctx, checkPath, paths...)
}

func checkPath(path objectstore.Path) error {
	switch {
	case strings.ContainsAny(string(path), "\r\n") || path == "." || path == "..":
		return fmt.Errorf("%w: %q is no name that the service takes", objectstore.ErrInvalidPath, path)
	case strings.HasPrefix(string(path), Reserved):
		return fmt.Errorf("%w: %q: the parts of uploads lie below %s", objectstore.ErrInvalidPath, path, Reserved)
	}
	return nil
}
