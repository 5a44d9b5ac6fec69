package azure

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/stardustdb/stardust/objectstore"
)

// How long a server may take to be reached and to begin its answer.
const (
	dialTimeout   = 10 * time.Second
	answerTimeout = time.Minute
)

// Store is a container. It may be used concurrently and needs no closing.
type Store struct {
	container *container.Client
	name      string
}

var (
	_ objectstore.Store     = (*Store)(nil)
	_ objectstore.TagReader = (*Store)(nil)
)

// New returns the store of a container. It sends nothing: a container that is
// missing shows at the first call. It returns ErrInvalidOption for invalid
// options, and ErrUnauthenticated without credentials.
func New(options Options) (*Store, error) {
	s := &Store{name: "az://" + options.Container}
	o, err := options.normal()
	if err == nil {
		s.name += "?account=" + o.Account
		if options.Endpoint != "" {
			s.name += "&endpoint=" + o.Endpoint
		}
		s.container, err = client(o)
	}
	if err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpOpen, Store: s.name, Err: err}
	}
	return s, nil
}

func client(o Options) (*container.Client, error) {
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Transport: transport()}
	}
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: o.HTTPClient,
		// The caller repeats: only it knows what may be repeated.
		Retry:     policy.RetryOptions{MaxRetries: -1},
		Telemetry: policy.TelemetryOptions{Disabled: true},
	}}
	address := o.Endpoint + "/" + o.Container
	switch {
	case o.Anonymous:
		return container.NewClientWithNoCredential(address, options)
	case o.Credential != nil:
		return container.NewClient(address, o.Credential, options)
	case o.Key != "":
		key, err := container.NewSharedKeyCredential(o.Account, o.Key)
		if err != nil {
			// The error would repeat the key.
			return nil, fmt.Errorf("%w: the account's key is not base64", objectstore.ErrInvalidOption)
		}
		return container.NewClientWithSharedKeyCredential(address, key, options)
	case o.SAS != "":
		return container.NewClientWithNoCredential(address+"?"+strings.TrimPrefix(o.SAS, "?"), options)
	}
	return nil, fmt.Errorf("%w: set %s or %s, or pass a credential", objectstore.ErrUnauthenticated, KeyVariable, SASVariable)
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
		DisableCompression:    true,
	}
}

// String returns the container's URL, without secrets.
func (s *Store) String() string { return s.name }

func (s *Store) blob(path objectstore.Path) *blockblob.Client {
	return s.container.NewBlockBlobClient(string(path))
}

func (s *Store) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.name, Path: string(path), Err: classify(err)}
}

// check refuses what the service would take for another name or could not list:
// it turns backslashes into slashes, resolves "." and "..", and can't write
// control characters in the XML of its lists.
func check(ctx context.Context, paths ...objectstore.Path) error {
	return objectstore.CheckPaths(ctx, checkPath, paths...)
}

func checkPath(path objectstore.Path) error {
	if strings.ContainsFunc(string(path), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff }) {
		return fmt.Errorf("%w: %q has a control character", objectstore.ErrInvalidPath, path)
	}
	if strings.Contains(string(path), `\`) {
		return fmt.Errorf("%w: %q has a backslash, which the service takes for a slash", objectstore.ErrInvalidPath, path)
	}
	return objectstore.CheckDots(path)
}
