package azure

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/stardustdb/stardust/objectstore"
)

// The environment variables behind options that are not given, by the names
// that Azure's own tools use.
const (
	AccountVariable = "AZURE_STORAGE_ACCOUNT"
	KeyVariable     = "AZURE_STORAGE_KEY"
	SASVariable     = "AZURE_STORAGE_SAS_TOKEN"
)

// Options are the options of [New]. Container and an account are required, and
// one kind of credentials unless the container is public.
type Options struct {
	// Container is the container's name.
	Container string
	// Account is the storage account's name; empty means the environment's.
	Account string
	// Endpoint is the URL of the account's blobs, such as that of an emulator,
	// http://127.0.0.1:10000/devstoreaccount1; empty means Azure's.
	Endpoint string
	// Key is the account's shared key in base64; empty means the environment's.
	Key string
	// SAS is a shared access signature; empty means the environment's.
	SAS string
	// Credential identifies the caller to Microsoft Entra; it takes precedence
	// over Key and SAS. Package azidentity makes some.
	Credential azcore.TokenCredential
	// Anonymous sends requests without credentials.
	Anonymous bool
	// HTTPClient sends the requests; nil means one of the store's own, which
	// gives up on a server that does not answer for a minute.
	HTTPClient *http.Client
}

// normal returns the options with their defaults, or ErrInvalidOption.
func (o Options) normal() (Options, error) {
	if o.Container == "" || strings.ContainsAny(o.Container, "/ ?") {
		return o, fmt.Errorf("%w: container %q", objectstore.ErrInvalidOption, o.Container)
	}
	o.Account = cmp.Or(o.Account, os.Getenv(AccountVariable))
	if o.Account == "" {
		return o, fmt.Errorf("%w: no storage account: name one, or set %s", objectstore.ErrInvalidOption, AccountVariable)
	}
	if strings.ContainsAny(o.Account, "/.:@ ?") {
		return o, fmt.Errorf("%w: storage account %q", objectstore.ErrInvalidOption, o.Account)
	}
	if o.Credential == nil && o.Key == "" && o.SAS == "" && !o.Anonymous {
		o.Key, o.SAS = os.Getenv(KeyVariable), os.Getenv(SASVariable)
	}
	o.Endpoint = cmp.Or(o.Endpoint, "https://"+o.Account+".blob.core.windows.net")
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return o, fmt.Errorf("%w: endpoint %q is not a URL such as http://127.0.0.1:10000/account", objectstore.ErrInvalidOption, o.Endpoint)
	}
	o.Endpoint = strings.TrimRight(o.Endpoint, "/")
	return o, nil
}
