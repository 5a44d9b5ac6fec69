package slatedb

import (
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// DefaultCompactionsPollInterval is how often a policy reads .compactions unless
// told otherwise.
const DefaultCompactionsPollInterval = 5 * time.Second

// PolicyOptions are the options of [NewPolicy]. The zero value of every field is
// its default. The names that RFC 0034 has for them are given in parentheses.
type PolicyOptions struct {
	// SegmentPredicate tells which segments are mirrored (with_segment_predicate);
	// nil mirrors all. It gets the latest manifest and the prefix of a segment,
	// which is empty for the root segment, and may get a prefix that the manifest
	// does not have yet. It must be cheap, since it runs on every call; it is
	// called concurrently and must change neither argument (RFC 0034, Segment
	// Support).
	SegmentPredicate func(m *Manifest, segment []byte) bool
	// CompactionsPollInterval is the time between reads of .compactions, by
	// which the output of active compactions is downloaded before a manifest
	// needs it (with_compactions_poll_interval). Zero or less means
	// [DefaultCompactionsPollInterval].
	CompactionsPollInterval time.Duration
	// WithoutCompactionsPoll turns that poll off
	// (with_compactions_poll_interval of None).
	WithoutCompactionsPoll bool
	// Clock is the clock that the poll waits by and that tells which
	// checkpoints have expired (with_system_clock); nil means the system's.
	Clock mirror.Clock
	// Logger gets what an operator may want to know; nil discards it.
	Logger *slog.Logger
	// Root is the root of the database; nil means that of the first manifest
	// or compactions object seen. An empty root means that the database fills
	// the whole store.
	Root *objectstore.Path
	// PathTags derives the tags of calls that have none from their paths. It
	// is for an endpoint such as S3, over which a SlateDB in another process
	// makes its calls: tags do not travel there. A path tells neither a
	// segment nor which database is meant before the root is known, so
	// derived calls differ from tagged ones:
	//
	//   - A selected read that misses locally downloads the SST
	//     (mirror.ReadThrough) instead of failing with mirror.NotLocal, which
	//     such a caller could not tell from lost data. It happens only when
	//     the mirror was started after the caller had read its manifest, or
	//     lost its directory.
	//   - An SST under another root is selected when the newest manifest or
	//     one of its active checkpoints references it, as those of a clone's
	//     external databases are. All others are another database's, and
	//     remote.
	//   - Until the root is known, every compacted SST is taken for the database's
	//     own. Set Root if that is not true.
	//   - With a segment predicate, reads are selected when the SST is
	//     retained, writes never: the next manifest downloads what was
	//     written.
	//
	// Calls that have a tag are treated as without this option.
	PathTags bool
	// TolerateLostSSTs answers a manifest although an SST that it references
	// cannot be downloaded, because it is missing or damaged in the store. A
	// SlateDB with direct access opens such a database and reads all other rows;
	// by default (RFC 0034) it could not get the manifest here at all. Reads of
	// the SST, which fails as it would with direct access, go to the store until
	// a download succeeds: each later manifest tries again in the background.
	// Failures of the local disk are errors as ever.
	TolerateLostSSTs bool
}

// normalize returns the options with their defaults filled in; o may be nil.
func (o *PolicyOptions) normalize() PolicyOptions {
	var n PolicyOptions
	if o != nil {
		n = *o
	}
	if n.CompactionsPollInterval <= 0 {
		n.CompactionsPollInterval = DefaultCompactionsPollInterval
	}
	if n.Clock == nil {
		n.Clock = mirror.SystemClock{}
	}
	if n.Logger == nil {
		n.Logger = slog.New(slog.DiscardHandler)
	}
	return n
}

// NewPolicy returns a policy for one mirror (SlateDbMirrorPolicyBuilder in
// RFC 0034). nil options are the defaults, which mirror every segment.
func NewPolicy(options *PolicyOptions) *Policy {
	p := &Policy{options: options.normalize()}
	p.state.init(p.options.Root)
	return p
}
