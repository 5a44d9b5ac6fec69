package s3

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// Options are the options of [NewHandler]. Zero fields have the defaults that
// their comments name; only keys (or Anonymous) and a bucket must be given.
type Options struct {
	// Bucket is the name under which clients see the Store that NewHandler
	// was given.
	Bucket string
	// Buckets are further buckets by name.
	Buckets map[string]objectstore.Store
	// CreateBucket makes the Store of a bucket that a client creates. Nil
	// refuses to create buckets.
	CreateBucket func(ctx context.Context, bucket string) (objectstore.Store, error)
	// OpenBucket returns the Store of a bucket that a request names and that is
	// not known yet, for buckets that are made elsewhere. It returns
	// objectstore.ErrNoBucket if there is none. Nil means no further buckets.
	OpenBucket func(ctx context.Context, bucket string) (objectstore.Store, error)
	// ListBuckets returns the names of all buckets that OpenBucket would open now,
	// and when each was made, the zero time when that is not known. It must be set
	// when OpenBucket is. It may be called concurrently.
	ListBuckets func(ctx context.Context) (map[string]time.Time, error)
	// DeleteBucket gives up the Store of an empty bucket that CreateBucket made.
	// Nil refuses to delete buckets.
	DeleteBucket func(ctx context.Context, bucket string, store objectstore.Store) error

	// CORSOrigins are the sites, such as "https://example.com" or "*", whose pages
	// may read and write every bucket that has no CORS configuration of its own,
	// with the keys that they have. None means that pages of other sites cannot.
	CORSOrigins []string
	// SaveCORS keeps the CORS configuration that a client gives to a bucket, a
	// document that LoadCORS returns, or none if it is nil. Nil refuses to set
	// any. LoadCORS is called for every request of a page of another site, and
	// must be set when SaveCORS is. Both may be called concurrently.
	SaveCORS func(ctx context.Context, bucket string, document []byte) error
	LoadCORS func(ctx context.Context, bucket string) ([]byte, error)

	// Credentials are the secret keys by access key. Each key may do
	// everything.
	Credentials map[string]string
	// Authorize decides what an access key may do, "" being that of an anonymous
	// request: to read or write a bucket, or the object with the key in it. The
	// bucket is "" for the list of buckets, and the key is for what concerns a
	// bucket; for a list the key is its prefix. A refused request gets
	// AccessDenied. Nil allows everything to every key. It may be called
	// concurrently.
	Authorize func(ctx context.Context, access Access) bool
	// Anonymous serves requests without a signature as well.
	Anonymous bool
	// Region is the region that signatures must name; "us-east-1".
	Region string
	// Domain turns virtual-host style on: a request to the host
	// <bucket>.<Domain> is for that bucket. Path style works always.
	Domain string

	// MaxConcurrentRequests bounds the requests served at a time; 512. More
	// are answered SlowDown, which clients repeat.
	MaxConcurrentRequests int
	// BufferSize is the greatest body in bytes that is read and verified
	// whole before the Store sees it, so that the Store can repeat it; 256
	// KiB. Larger ones stream.
	BufferSize int64
	// MaxBufferedBytes bounds all such bodies together, and large XML bodies; 64
	// MiB. What doesn't fit streams, or gets SlowDown if it is XML.
	MaxBufferedBytes int64
	// MaxPutSize is the greatest body of one request in bytes; 5 GiB.
	MaxPutSize int64
	// MinPartSize is the least size in bytes of every part of a multipart
	// upload but the last; 5 MiB. Negative means none.
	MinPartSize int64
	// MaxUploads bounds the multipart uploads in progress per bucket on a
	// Store that is not an [objectstore.MultipartStore]; 1000. UploadTTL is how
	// long such an upload may rest before a new one may take its place; a day.
	MaxUploads int
	UploadTTL  time.Duration
	// StallTimeout ends a request whose client sends or takes no bytes for so
	// long; a minute. Negative means never.
	StallTimeout time.Duration

	// Clock tells the time; time.Now.
	Clock func() time.Time
	// Logger gets one debug record a request and an error for each that
	// failed on our side. Nil discards.
	Logger *slog.Logger
	// Extensions returns what to attach to the options of the Store's calls,
	// such as the tags a mirror's policy routes by. The path is empty for
	// requests that concern a bucket. It may be called concurrently.
	Extensions func(r *http.Request, bucket string, path objectstore.Path) objectstore.Extensions
	// Observe is called after the end of every request. It may be called
	// concurrently and must not block.
	Observe func(Observation)
	// Failure chooses what the client sees for an error of the Store; nil
	// means the usual. It may be called concurrently.
	Failure func(err error) *Failure
}

// Access is what a request is about to do.
type Access struct {
	AccessKey string
	Bucket    string
	Key       string
	Write     bool
}

// Observation says how one request went.
type Observation struct {
	RequestID string
	Operation string // S3's name, such as "GetObject"
	Bucket    string
	Key       string
	AccessKey string // empty for an anonymous request
	Status    int    // of HTTP
	Code      string // S3's error code, empty for a success
	Sent      int64  // bytes of the body of the response
	Received  int64  // bytes of the decoded body of the request
	Duration  time.Duration
	Err       error // the cause of a failure
}

// normalize returns a copy with the defaults filled in, or an error that says
// which option is wrong.
func (o Options) normalize(store objectstore.Store) (Options, error) {
	switch {
	case (store == nil) != (o.Bucket == ""):
		return o, errors.New("s3: a store and Options.Bucket, its name, go together: give both or neither")
	case (o.OpenBucket == nil) != (o.ListBuckets == nil):
		return o, errors.New("s3: Options.OpenBucket and Options.ListBuckets go together: give both or neither")
	case (o.SaveCORS == nil) != (o.LoadCORS == nil):
		return o, errors.New("s3: Options.SaveCORS and Options.LoadCORS go together: give both or neither")
	case store == nil && len(o.Buckets) == 0 && o.CreateBucket == nil && o.OpenBucket == nil:
		return o, errors.New("s3: no bucket to serve: give a store and Options.Bucket, or Options.Buckets")
	case len(o.Credentials) == 0 && !o.Anonymous:
		return o, errors.New("s3: no keys: give Options.Credentials, or set Options.Anonymous to serve everyone")
	}
	for access, secret := range o.Credentials {
		if access == "" || secret == "" {
			return o, fmt.Errorf("s3: Options.Credentials has an empty access or secret key (access key %q)", access)
		}
	}
	o.Buckets = maps.Clone(o.Buckets)
	o.Credentials = maps.Clone(o.Credentials)
	if o.Buckets == nil {
		o.Buckets = make(map[string]objectstore.Store)
	}
	if store != nil {
		if o.Buckets[o.Bucket] != nil {
			return o, fmt.Errorf("s3: bucket %q is both Options.Bucket and in Options.Buckets", o.Bucket)
		}
		o.Buckets[o.Bucket] = store
	}
	for name, store := range o.Buckets {
		if !validBucketName(name) {
			return o, fmt.Errorf("s3: bucket name %q is not valid: 3 to 63 lower-case letters, digits, \".\" and \"-\"", name)
		}
		if store == nil {
			return o, fmt.Errorf("s3: bucket %q has no store", name)
		}
	}
	defaultTo(&o.Region, "us-east-1")
	defaultTo(&o.MaxConcurrentRequests, 512)
	defaultTo(&o.BufferSize, 256<<10)
	defaultTo(&o.MaxBufferedBytes, 64<<20)
	defaultTo(&o.MaxPutSize, 5<<30)
	defaultTo(&o.MinPartSize, 5<<20)
	defaultTo(&o.MaxUploads, 1000)
	defaultTo(&o.UploadTTL, 24*time.Hour)
	defaultTo(&o.StallTimeout, time.Minute)
	if o.MaxConcurrentRequests < 0 || o.BufferSize < 0 || o.MaxBufferedBytes < 0 || o.MaxPutSize < 0 || o.MaxUploads < 0 {
		return o, errors.New("s3: a limit in Options is negative")
	}
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // the default clock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

func defaultTo[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
