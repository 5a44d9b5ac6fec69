package mirror

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// The defaults of Options.
const (
	DefaultDownloadConcurrency = 8
	DefaultRemoteScanInterval  = 10 * time.Minute
	DefaultIndexInterval       = 5 * time.Minute
	DefaultMaxIdleFiles        = 256
	DefaultMaxBackoff          = time.Second
	DefaultStallTimeout        = 30 * time.Second
	DefaultUploadTimeout       = 24 * time.Hour
)

// Options are the options of [Open]. The zero value of every field is its
// default. The names that RFC 0034 has for them are given in parentheses.
type Options struct {
	// VFS is the file system for local I/O (with_vfs); nil means vfs.OS.
	VFS vfs.FS
	// DownloadConcurrency is the greatest number of concurrent remote GETs of
	// fetches, prefetches and refetches (with_download_concurrency); zero
	// means 8. A large object uses several when they are free.
	DownloadConcurrency int
	// RemoteScanInterval is the time between remote scans, which remove local
	// copies of objects deleted remotely (with_remote_scan_interval); zero
	// means ten minutes.
	RemoteScanInterval time.Duration
	// WithoutRemoteScan turns the remote scan off (with_remote_scan_interval
	// of None). It must be off when the remote is not strongly consistent.
	WithoutRemoteScan bool
	// Clock is the clock of waits, scans and the last-modified time of
	// mirrored writes (with_system_clock); nil means [SystemClock].
	Clock Clock
	// MaxRetries is how often the mirror repeats a remote call of its own
	// that failed for a passing reason: fetches, prefetches, refetches and
	// Handle.GetRemote (with_max_retries). Zero means forever, as in the RFC;
	// objectstore.NoRetries repeats none. Progress of a download starts the
	// count again.
	MaxRetries objectstore.Retries
	// Backoff is the wait before those repetitions. Its default Max is one second,
	// as in SlateDB's RetryingObjectStore, so that a remote that comes back is
	// noticed soon.
	Backoff objectstore.Backoff
	// StallTimeout is how long the mirror waits for the next bytes of a remote
	// read of its own, or for a remote's answer to one, before it makes the
	// call again; zero means 30 seconds.
	StallTimeout time.Duration
	// WithoutStallTimeout waits for as long as it takes.
	WithoutStallTimeout bool
	// UploadTimeout is how long the local side of a multipart upload is kept
	// without any call for it; zero means a day. The remote's side goes on: if it
	// is completed later, the object is downloaded.
	UploadTimeout time.Duration
	// Random is the source of the backoff's jitter, numbers in [0, 1). It is
	// called concurrently; nil means math/rand/v2.
	Random func() float64
	// Verify makes every local read check the CRC32C of the 64 KiB blocks
	// that it touches; a damaged block is replaced by a refetch within the
	// read. With it, a read's Body is not an objectstore.FileBody, since the
	// kernel would send unchecked bytes.
	Verify bool
	// Identity is the name of the remote that is kept in LOCK: a directory of
	// another remote is refused. Empty means the remote's String.
	Identity string
	// IndexInterval is how often the startup index is written when the local
	// copies have changed, besides at Close; zero means five minutes.
	IndexInterval time.Duration
	// MaxIdleFiles is how many files are kept open for later reads; zero
	// means 256. With the default VFS it is at most a quarter of what the
	// process may open. [NoIdleFiles] keeps none open.
	MaxIdleFiles int
	// Logger gets what an operator may want to know; nil discards it.
	Logger *slog.Logger
}

// NoIdleFiles is the [Options].MaxIdleFiles that keeps no file open.
const NoIdleFiles = -1

// check returns InvalidConfig for an option that makes no sense.
func (o *Options) check() error {
	message := ""
	switch {
	case o.DownloadConcurrency < 0:
		message = "the download concurrency is negative"
	case o.RemoteScanInterval < 0:
		message = "the remote scan interval is negative; WithoutRemoteScan turns the scan off"
	case o.StallTimeout < 0:
		message = "the stall timeout is negative; WithoutStallTimeout turns it off"
	case o.UploadTimeout < 0:
		message = "the upload timeout is negative"
	case o.IndexInterval < 0:
		message = "the index interval is negative"
	case o.MaxIdleFiles < NoIdleFiles:
		message = "the number of idle files is negative; NoIdleFiles keeps none"
	case !o.MaxRetries.Valid():
		message = "the number of retries is negative; use objectstore.RetryForever or objectstore.NoRetries"
	default:
		return nil
	}
	return &InvalidConfig{Message: message}
}

// normalize returns the options with their defaults filled in; o may be nil.
func (o *Options) normalize(remote objectstore.Store) Options {
	var n Options
	if o != nil {
		n = *o
	}
	setDefault(&n.DownloadConcurrency, DefaultDownloadConcurrency)
	setDefault(&n.RemoteScanInterval, DefaultRemoteScanInterval)
	setDefault(&n.StallTimeout, DefaultStallTimeout)
	if n.WithoutStallTimeout {
		n.StallTimeout = 0
	}
	setDefault(&n.UploadTimeout, DefaultUploadTimeout)
	setDefault(&n.IndexInterval, DefaultIndexInterval)
	setDefault(&n.MaxIdleFiles, DefaultMaxIdleFiles)
	n.MaxIdleFiles = max(n.MaxIdleFiles, 0)
	setDefault(&n.Backoff.Max, DefaultMaxBackoff)
	n.MaxRetries = n.MaxRetries.Or(objectstore.RetryForever)
	if n.VFS == nil {
		n.VFS = vfs.OS{}
		// Leave most descriptors to connections and the files in use.
		n.MaxIdleFiles = min(n.MaxIdleFiles, vfs.OpenFileLimit()/4)
	}
	if n.Clock == nil {
		n.Clock = SystemClock{}
	}
	if n.Logger == nil {
		n.Logger = slog.New(slog.DiscardHandler)
	}
	if n.Random == nil {
		n.Random = rand.Float64
	}
	if n.Identity == "" {
		n.Identity = remote.String()
	}
	return n
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}
