package mirror

import (
	"context"
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// The defaults of a Builder.
const (
	DefaultDownloadConcurrency = 8
	DefaultRemoteScanInterval  = 10 * time.Minute
	DefaultIndexInterval       = 5 * time.Minute
	DefaultMaxIdleFiles        = 256
)

// A Builder opens a directory as a Mirror. Its methods set one option each and
// return the Builder; Build checks them all.
type Builder struct {
	dir    string
	remote objectstore.Store
	policy Policy
	config config
}

// config holds the options of a Builder.
type config struct {
	fs            vfs.FS
	clock         Clock
	logger        *slog.Logger
	random        func() float64
	concurrency   int
	scan          bool
	scanInterval  time.Duration
	indexInterval time.Duration
	maxRetries    int // negative: forever
	backoff       objectstore.Backoff
	verify        bool
	identity      string
	maxIdleFiles  int
}

// NewBuilder begins a Mirror of remote in the directory dir, which Build makes
// when it is missing. A relative dir counts from the working directory at
// Build.
func NewBuilder(dir string, remote objectstore.Store, policy Policy) *Builder {
	return &Builder{dir: dir, remote: remote, policy: policy, config: config{
		concurrency:   DefaultDownloadConcurrency,
		scan:          true,
		scanInterval:  DefaultRemoteScanInterval,
		indexInterval: DefaultIndexInterval,
		maxRetries:    -1,
		maxIdleFiles:  DefaultMaxIdleFiles,
	}}
}

// WithVFS sets the file system for local I/O. The default is vfs.OS.
func (b *Builder) WithVFS(fs vfs.FS) *Builder { b.config.fs = fs; return b }

// WithDownloadConcurrency sets the greatest number of concurrent remote GETs
// of fetches, prefetches and refetches. A large object uses several when they
// are free. The default is 8.
func (b *Builder) WithDownloadConcurrency(n int) *Builder { b.config.concurrency = n; return b }

// WithRemoteScanInterval sets the interval of the remote scan, which removes
// local copies of objects deleted remotely. The default is ten minutes.
func (b *Builder) WithRemoteScanInterval(d time.Duration) *Builder {
	b.config.scan, b.config.scanInterval = true, d
	return b
}

// WithoutRemoteScan turns the remote scan off. It must be off when the remote
// is not strongly consistent.
func (b *Builder) WithoutRemoteScan() *Builder { b.config.scan = false; return b }

// WithClock sets the clock. The default is [SystemClock].
func (b *Builder) WithClock(clock Clock) *Builder { b.config.clock = clock; return b }

// WithMaxRetries sets how many times the mirror retries a transient error of
// its own remote calls: fetches, prefetches, refetches and GetRemote. Progress
// of a download starts the count again. The default is to retry forever.
func (b *Builder) WithMaxRetries(n int) *Builder { b.config.maxRetries = max(n, 0); return b }

// WithBackoff sets the times between those retries.
func (b *Builder) WithBackoff(backoff objectstore.Backoff) *Builder {
	b.config.backoff = backoff
	return b
}

// WithRandom sets the source of the backoff's jitter, a number in [0, 1). It
// is called concurrently. The default is math/rand/v2.
func (b *Builder) WithRandom(random func() float64) *Builder { b.config.random = random; return b }

// WithVerification makes every local read check the CRC32C of the 64 KiB
// blocks that it touches; a damaged block is replaced by a refetch inside the
// read. It is off by default. With it, a read's Body is not an
// objectstore.FileBody, since the kernel would send unchecked bytes.
func (b *Builder) WithVerification(on bool) *Builder { b.config.verify = on; return b }

// WithLogger sets the logger. The default discards.
func (b *Builder) WithLogger(logger *slog.Logger) *Builder { b.config.logger = logger; return b }

// WithIdentity sets the name of the remote that is kept in LOCK: a directory
// of another remote is refused. The default is remote.String().
func (b *Builder) WithIdentity(identity string) *Builder { b.config.identity = identity; return b }

// WithIndexInterval sets how often the startup index is written when the local
// copies have changed, besides at Close. The default is five minutes.
func (b *Builder) WithIndexInterval(d time.Duration) *Builder { b.config.indexInterval = d; return b }

// WithMaxIdleFiles sets how many files are kept open for later reads, 0 for
// none. The default is 256.
func (b *Builder) WithMaxIdleFiles(n int) *Builder { b.config.maxIdleFiles = n; return b }

// Build checks the options, makes the directory, takes its lock, cleans it up,
// and starts the remote scan and Policy.Run (RFC 0034, Startup). ctx bounds
// Build only; the caller closes the Mirror.
//
// It returns [InvalidConfig] for an invalid option, a directory in use by
// another mirror, of another remote, or of a newer format, all of which it
// leaves as they are, and [Local] when the directory cannot be made or read.
func (b *Builder) Build(ctx context.Context) (*Mirror, error) {
	return b.build(ctx)
}
