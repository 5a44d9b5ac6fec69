package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/objectstore"
)

// Options are the options of [New].
type Options struct {
	// Bucket is the bucket's name; required.
	Bucket string
	// Endpoint is the URL of a server other than Amazon's, such as
	// http://127.0.0.1:9000. Empty means what the environment says
	// (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile), or Amazon's.
	Endpoint string
	// Region is the bucket's region. Empty means what the environment says, or
	// us-east-1.
	Region string
	// PathStyle puts the bucket into the path of requests instead of the host
	// name. It is on for endpoints that are an IP address or localhost.
	PathStyle bool
	// Profile is a profile of the shared configuration files.
	Profile string
	// AccessKeyID, SecretAccessKey and SessionToken are credentials; when
	// empty they come from the environment, the profile, or the machine's
	// role.
	AccessKeyID, SecretAccessKey, SessionToken string
	// Anonymous sends requests without credentials.
	Anonymous bool
	// HTTPClient sends the requests; nil means one of the SDK's with buffers
	// and connections for large transfers.
	HTTPClient aws.HTTPClient
	// SDKRetries is how often the SDK itself repeats a request, with its own
	// waits. Zero leaves that to the retry decorator.
	SDKRetries int
	// PartSize is the size in bytes of the ranges by which objects too large
	// for one copy request are copied. Zero means 1 GiB.
	PartSize int64
}

// Store keeps objects in a bucket. It implements [objectstore.MultipartStore],
// [objectstore.BulkDeleter] and [objectstore.TagReader], may be used
// concurrently, and needs no closing. Delete does not tell whether there was an
// object. Rename is a Copy and a Delete.
type Store struct {
	client   *s3.Client
	bucket   *string
	name     string
	partSize int64
	maxCopy  int64
	// anonymous requests carry no signature.
	anonymous bool
}

var (
	_ objectstore.MultipartStore = (*Store)(nil)
	_ objectstore.BulkDeleter    = (*Store)(nil)
	_ objectstore.TagReader      = (*Store)(nil)
)

// maxCopySize is the size in bytes of the largest object that S3 copies in one
// request.
const maxCopySize = 5 << 30

// New returns the store in a bucket. It reads the configuration of the
// environment but sends no request: a bucket that does not exist, or refuses
// these credentials, shows at the first call.
func New(ctx context.Context, options Options) (*Store, error) {
	fail := func(err error) error {
		return &objectstore.Error{Op: objectstore.OpOpen, Store: "s3://" + options.Bucket, Err: err}
	}
	if options.Bucket == "" || strings.ContainsAny(options.Bucket, "/?#") {
		return nil, fail(fmt.Errorf("%w: bucket name %q", objectstore.ErrInvalidOption, options.Bucket))
	}
	if options.Endpoint != "" {
		if u, err := url.Parse(options.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fail(fmt.Errorf("%w: endpoint %q is no http or https URL", objectstore.ErrInvalidOption, options.Endpoint))
		}
	}
	if options.SDKRetries < 0 || options.PartSize < 0 {
		return nil, fail(fmt.Errorf("%w: negative SDKRetries or PartSize", objectstore.ErrInvalidOption))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options.loaders()...)
	if err != nil {
		return nil, fail(err)
	}
	if loaded.Region == "" {
		loaded.Region = "us-east-1"
	}
	if options.Anonymous {
		loaded.Credentials = aws.AnonymousCredentials{}
	} else if loaded.Credentials != nil {
		loaded.Credentials = aws.NewCredentialsCache(&provider{loaded.Credentials})
	}
	s := &Store{bucket: &options.Bucket, partSize: options.PartSize, maxCopy: maxCopySize, anonymous: options.Anonymous}
	if s.partSize == 0 {
		s.partSize = 1 << 30
	}
	s.client = s3.NewFromConfig(loaded, func(o *s3.Options) {
		if options.Endpoint != "" {
			o.BaseEndpoint = &options.Endpoint
		}
		o.UsePathStyle = o.UsePathStyle || options.PathStyle || needsPathStyle(o.BaseEndpoint)
		// S3 sends no checksum with parts of an object, which the SDK would
		// report with every ranged read.
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	s.name = "s3://" + options.Bucket
	if endpoint := s.client.Options().BaseEndpoint; endpoint != nil {
		s.name += "?endpoint=" + redact(*endpoint)
	}
	return s, nil
}

// loaders are the options for the SDK's configuration.
func (o *Options) loaders() []func(*config.LoadOptions) error {
	retryer := func() aws.Retryer { return aws.NopRetryer{} }
	if o.SDKRetries > 0 {
		retryer = nil
	}
	client := o.HTTPClient
	if client == nil {
		client = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = 128
			t.MaxIdleConns = 256
			t.ReadBufferSize = 64 << 10
			t.WriteBufferSize = 64 << 10
		})
	}
	loaders := []func(*config.LoadOptions) error{config.WithHTTPClient(client)}
	if retryer != nil {
		loaders = append(loaders, config.WithRetryer(retryer))
	} else {
		loaders = append(loaders, config.WithRetryMaxAttempts(o.SDKRetries+1))
	}
	if o.Region != "" {
		loaders = append(loaders, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		loaders = append(loaders, config.WithSharedConfigProfile(o.Profile))
	}
	if o.AccessKeyID != "" || o.SecretAccessKey != "" {
		loaders = append(loaders, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, o.SessionToken)))
	}
	return loaders
}

// needsPathStyle reports whether no host name can be made of a bucket's name and
// the endpoint.
func needsPathStyle(endpoint *string) bool {
	if endpoint == nil {
		return false
	}
	u, err := url.Parse(*endpoint)
	if err != nil {
		return false
	}
	return u.Hostname() == "localhost" || net.ParseIP(u.Hostname()) != nil
}

func redact(endpoint string) string {
	if u, err := url.Parse(endpoint); err == nil {
		return u.Redacted()
	}
	return "(not a URL)"
}

// provider says clearly when there are no credentials.
type provider struct{ aws.CredentialsProvider }

func (p *provider) Retrieve(ctx context.Context) (aws.Credentials, error) {
	value, err := p.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil && !objectstore.IsTransient(err) {
		err = fmt.Errorf("%w: %w", objectstore.ErrUnauthenticated, err)
	}
	return value, err
}

// String returns the bucket's URL, with the endpoint when it is not Amazon's.
func (s *Store) String() string { return s.name }

func (s *Store) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.name, Path: string(path), Err: classify(err)}
}

// check refuses paths that are not valid, and those with a segment "." or "..":
// Amazon takes them literally, but many servers, and proxies in front of them,
// resolve them, even out of the bucket.
func check(ctx context.Context, paths ...objectstore.Path) error {
	return objectstore.CheckPaths(ctx, objectstore.CheckDots, paths...)
}

func key(path objectstore.Path) *string { return aws.String(string(path)) }

// quote returns an ETag as HTTP has it, unquote as this project has it.
func quote(etag string) string { return `"` + strings.Trim(etag, `"`) + `"` }

func unquote(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }
