package gcs

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/stardustdb/stardust/objectstore"
)

// defaultEndpoint is Google's own service.
const defaultEndpoint = "https://storage.googleapis.com"

// scope is what the credentials are asked for: to read and write objects.
const scope = "https://www.googleapis.com/auth/devstorage.read_write"

// EmulatorVariable names the environment variable that Google's own clients
// read the endpoint of an emulator from. Options.Endpoint takes precedence over
// it.
const EmulatorVariable = "STORAGE_EMULATOR_HOST"

// Options are the options of [New]. Only Bucket is required.
type Options struct {
	// Bucket is the bucket's name.
	Bucket string
	// Endpoint is the URL of the service; empty means Google's, or that of the
	// emulator that the environment names, to which requests go without
	// credentials.
	Endpoint string
	// Anonymous sends requests without credentials.
	Anonymous bool
	// Tokens are the credentials; nil means the application default
	// credentials, which the environment configures.
	Tokens oauth2.TokenSource
	// HTTPClient sends the requests; nil means one of the store's own, which gives
	// up on a server that does not answer for a minute. If it is given and Tokens
	// is nil, it must add the credentials itself.
	HTTPClient *http.Client
	// Now is the clock for the times shown of uploads in progress; nil means
	// time.Now.
	Now func() time.Time
}

// normal returns the options with their defaults, or ErrInvalidOption.
func (o Options) normal() (Options, error) {
	if o.Bucket == "" || strings.ContainsAny(o.Bucket, "/ ") {
		return o, fmt.Errorf("%w: bucket %q", objectstore.ErrInvalidOption, o.Bucket)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock
	}
	if o.Endpoint == "" {
		if emulator := os.Getenv(EmulatorVariable); emulator != "" {
			o.Anonymous = true
			if o.Endpoint = emulator; !strings.Contains(emulator, "://") {
				o.Endpoint = "http://" + emulator
			}
		}
	}
	if o.Endpoint == "" {
		o.Endpoint = defaultEndpoint
	}
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return o, fmt.Errorf("%w: endpoint %q is not a URL such as http://host:4443", objectstore.ErrInvalidOption, o.Endpoint)
	}
	o.Endpoint = strings.TrimRight(o.Endpoint, "/")
	return o, nil
}
