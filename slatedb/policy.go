package slatedb

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// Policy mirrors the compacted SSTs of one SlateDB database: it is the
// mirror.Policy of RFC 0034, SlateDB Policy. Make one with [NewPolicyBuilder],
// one for each mirror.
//
// It routes calls by the [CallTag] in their options and watches the manifests
// that pass through the mirror. Every SST of a manifest is local before a
// caller gets the manifest, so the SST reads that follow are local. What the
// newest manifest and its active checkpoints no longer reference is evicted.
//
// The root of the database is recorded from the first .manifest or .compactions
// object that is read or written, unless the builder was given one. Such
// objects of another root are refused with [ErrOtherRoot] from then on. A read
// records the root once it has found an object, a write when it begins.
//
// The local disk must have room for the whole database, for its active
// checkpoints and for the outputs of running compactions (RFC 0034, Capacity).
type Policy struct {
	config policyConfig
	state  policyState
}

var _ mirror.Policy = (*Policy)(nil)

// PolicyStatus says what a policy has seen.
type PolicyStatus struct {
	// Root is the database's root; RootKnown tells whether it is known, for
	// an empty root is a root too.
	Root      objectstore.Path
	RootKnown bool
	// ManifestID is the newest manifest processed, zero when there was none.
	ManifestID uint64
	// Checkpoints is the number of distinct manifests that the newest
	// manifest's active checkpoints hold.
	Checkpoints int
	// Retained is the number of SSTs that must not be evicted. Not all of
	// them need be local.
	Retained int
}

// Status returns what the policy has seen. It takes time proportional to the
// number of retained SSTs.
func (p *Policy) Status() PolicyStatus {
	v := p.state.view()
	status := PolicyStatus{Root: v.root, RootKnown: v.rootKnown, Retained: v.retained.size()}
	if v.newest != nil {
		status.ManifestID = v.newest.ID
	}
	status.Checkpoints = p.state.checkpointCount()
	return status
}

// Observe implements mirror.Policy (RFC 0034, Manifest Processing). It returns
// an error for an object of another root, for a manifest that cannot be
// decoded, when a checkpoint's manifest cannot be read, and when a download
// fails.
func (p *Policy) Observe(ctx context.Context, path objectstore.Path, data []byte, handle mirror.Handle) error {
	name, ok := metadataName(path)
	if !ok {
		return nil
	}
	if err := p.state.recordRoot(name.Root); err != nil {
		return err
	}
	if name.Kind == KindCompactions {
		return p.observeCompactions(ctx, name, data, handle)
	}
	return p.observeManifest(ctx, name, data, handle)
}

// fetch downloads the SSTs of a set that are not local.
func (p *Policy) fetch(ctx context.Context, handle mirror.Handle, set sstSet) error {
	if len(set) == 0 {
		return nil
	}
	return handle.Fetch(p.state.owners.paths(set)...).Wait(ctx)
}

// selector returns the segment predicate as it applies to the manifest.
func (p *Policy) selector(m *Manifest) func(segment []byte) bool {
	if p.config.predicate == nil {
		return func([]byte) bool { return true }
	}
	return func(segment []byte) bool { return m != nil && p.config.predicate(m, segment) }
}

// policyConfig is what a builder sets.
type policyConfig struct {
	predicate    func(m *Manifest, segment []byte) bool // nil selects all
	pollInterval time.Duration                          // zero or less: no poll
	clock        mirror.Clock
	logger       *slog.Logger
	root         *objectstore.Path
	pathTags     bool
}

// DefaultCompactionsPollInterval is how often a policy reads .compactions unless
// told otherwise.
const DefaultCompactionsPollInterval = 5 * time.Second

// PolicyBuilder makes a [Policy]. Its methods set one option each and return the
// builder.
type PolicyBuilder struct {
	config policyConfig
}

// NewPolicyBuilder begins a policy that mirrors every segment.
func NewPolicyBuilder() *PolicyBuilder {
	return &PolicyBuilder{policyConfig{
		pollInterval: DefaultCompactionsPollInterval,
		clock:        mirror.SystemClock{},
		logger:       slog.New(slog.DiscardHandler),
	}}
}

// WithSegmentPredicate sets which segments are mirrored. The predicate gets the
// latest manifest and the prefix of a segment, which is empty for the root
// segment, and may get a prefix that the manifest does not have yet. It must be
// cheap, for it runs on every call; it is called concurrently and must change
// neither argument (RFC 0034, Segment Support).
func (b *PolicyBuilder) WithSegmentPredicate(selects func(m *Manifest, segment []byte) bool) *PolicyBuilder {
	b.config.predicate = selects
	return b
}

// WithCompactionsPollInterval sets how often .compactions is read, to download
// the output of active compactions before a manifest needs it. The default is
// [DefaultCompactionsPollInterval]. Zero or less turns the poll off.
func (b *PolicyBuilder) WithCompactionsPollInterval(d time.Duration) *PolicyBuilder {
	b.config.pollInterval = d
	return b
}

// WithoutCompactionsPoll turns the poll of .compactions off.
func (b *PolicyBuilder) WithoutCompactionsPoll() *PolicyBuilder {
	b.config.pollInterval = 0
	return b
}

// WithClock sets the clock that the poll waits by and that tells which
// checkpoints have expired. The default is the system's.
func (b *PolicyBuilder) WithClock(clock mirror.Clock) *PolicyBuilder {
	if clock != nil {
		b.config.clock = clock
	}
	return b
}

// WithLogger sets the logger. The default discards.
func (b *PolicyBuilder) WithLogger(logger *slog.Logger) *PolicyBuilder {
	if logger != nil {
		b.config.logger = logger
	}
	return b
}

// WithRoot sets the root of the database, instead of taking that of the first
// manifest or compactions object seen. An empty root means that the database
// fills the whole store.
func (b *PolicyBuilder) WithRoot(root objectstore.Path) *PolicyBuilder {
	b.config.root = &root
	return b
}

// WithPathTags derives the tags of calls that have none from their paths. It is
// for an endpoint such as S3, over which a SlateDB in another process makes its
// calls: tags do not travel there. A path tells neither a segment nor which
// database is meant before the root is known, so derived calls differ from
// tagged ones:
//
//   - A selected read that misses locally downloads the SST (mirror.ReadThrough)
//     instead of failing with mirror.NotLocal, which such a caller could not
//     tell from lost data. It happens only when the mirror was started after
//     the caller had read its manifest, or lost its directory.
//   - An SST under another root is selected when the newest manifest or one of
//     its active checkpoints references it, as those of a clone's external
//     databases are. All others are another database's, and remote.
//   - Until the root is known, every compacted SST is taken for the database's
//     own. Use WithRoot where that is not so.
//   - With a segment predicate, reads are selected when the SST is retained,
//     writes never: the next manifest downloads what was written.
//
// A tag that a call does have counts as it does without this option.
func (b *PolicyBuilder) WithPathTags() *PolicyBuilder {
	b.config.pathTags = true
	return b
}

// Build makes the policy.
func (b *PolicyBuilder) Build() *Policy {
	p := &Policy{config: b.config}
	p.state.init(p.config.root)
	return p
}

// String describes the policy for logs.
func (p *Policy) String() string {
	v := p.state.view()
	if !v.rootKnown {
		return "slatedb policy"
	}
	return fmt.Sprintf("slatedb policy of %q", string(v.root))
}
