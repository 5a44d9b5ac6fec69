package sidecar

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// Options say what a sidecar serves. Upstream, Dir, Bucket, a policy and
// credentials are required; the rest has defaults.
type Options struct {
	// Upstream is the store that is mirrored. It stays the caller's to close.
	Upstream objectstore.Store
	// Dir is where the local copies lie.
	Dir string
	// Bucket is the name under which clients see the store.
	Bucket string
	// Credentials are the sidecar's own secret keys by access key; they are
	// not the upstream's. Anonymous serves unsigned requests as well.
	Credentials map[string]string
	Anonymous   bool
	// Region is the region that signatures must name; empty means us-east-1.
	Region string
	// CORSOrigins are the sites whose pages may use the bucket; see
	// [s3.Options].
	CORSOrigins []string

	// Database mirrors a SlateDB. Policy mirrors by another policy. Exactly one of
	// them must be set. Without a root, the sidecar takes that of the first
	// manifest that passes, and has nothing to warm until then. Its tags are
	// always derived from paths, and an SST that the upstream has lost does not
	// keep a manifest from being answered.
	Database *slatedb.PolicyOptions
	Policy   mirror.Policy
	// WarmPrefix, with Policy, is the prefix of what must be local before the
	// sidecar is ready. Empty with Warm means everything.
	Warm       bool
	WarmPrefix string

	// WithoutVerification serves local bytes unchecked. By default every
	// local read checks its blocks, and damage is healed within the request.
	WithoutVerification bool
	// Mirror are the mirror's other options; its Verify is ignored.
	Mirror mirror.Options
	// MaxConcurrentRequests bounds the requests served at a time; zero means
	// the endpoint's default.
	MaxConcurrentRequests int
	// UpstreamCalls bounds the calls to the upstream at a time, reads and writes
	// each, of requests, downloads and scans together; others wait. Zero means no
	// bound.
	UpstreamCalls int
	// UpstreamBytesPerSecond bounds the bytes read from and written to the
	// upstream together; zero means no bound.
	UpstreamBytesPerSecond int64

	// Now is the clock of signatures; nil means time.Now.
	Now func() time.Time
	// Logger gets what an operator may want to know, also from the mirror and
	// the policy, unless they have their own; at level Debug every request and
	// every call to the upstream. Nil discards it.
	Logger *slog.Logger
}

func (o *Options) check() error {
	switch {
	case o.Upstream == nil:
		return errors.New("sidecar: no upstream store")
	case o.Bucket == "":
		return errors.New("sidecar: no bucket name")
	case slices.Contains(pageNames(), o.Bucket):
		return fmt.Errorf("sidecar: the bucket name %q is the path of a page of the sidecar; choose another", o.Bucket)
	case (o.Database == nil) == (o.Policy == nil):
		return errors.New("sidecar: exactly one of Database and Policy must be set")
	case o.UpstreamCalls < 0 || o.UpstreamBytesPerSecond < 0:
		return errors.New("sidecar: UpstreamCalls and UpstreamBytesPerSecond cannot be negative")
	case len(o.Credentials) == 0 && !o.Anonymous:
		return errors.New("sidecar: no credentials; set some, or allow anonymous requests")
	}
	return nil
}

// policy returns the mirror's policy, and SlateDB's when it is that.
func (o *Options) policy() (mirror.Policy, *slatedb.Policy) {
	if o.Database == nil {
		return o.Policy, nil
	}
	database := *o.Database
	database.PathTags, database.TolerateLostSSTs = true, true
	if database.Logger == nil {
		database.Logger = o.Logger
	}
	p := slatedb.NewPolicy(&database)
	return p, p
}

// mirror returns the mirror's options.
func (o *Options) mirror() *mirror.Options {
	options := o.Mirror
	options.Verify = !o.WithoutVerification
	if options.Logger == nil {
		options.Logger = o.Logger
	}
	return &options
}

func (o *Options) endpoint(observe func(s3.Observation)) s3.Options {
	return s3.Options{
		Bucket: o.Bucket, Credentials: o.Credentials, Anonymous: o.Anonymous, Region: o.Region,
		CORSOrigins:           o.CORSOrigins,
		MaxConcurrentRequests: o.MaxConcurrentRequests,
		Clock:                 o.Now, Logger: o.Logger, Observe: observe, Failure: o.refusal,
	}
}
