package mirror

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// Stats is what a Mirror has done since Open, and what it is doing now.
type Stats struct {
	Gauges
	Counters
	// Downloads are in flight now, in the order of their paths.
	Downloads []DownloadProgress
	// LastScan is the latest finished remote scan; zero before the first.
	LastScan ScanResult
	// Startup is what Open found in the directory.
	Startup local.StartupResult
}

// DownloadProgress is a download in flight.
type DownloadProgress struct {
	Path objectstore.Path
	// Size is the object's size in bytes, -1 before the remote has said it.
	Size int64
	// Done is how many bytes are in the temporary file.
	Done int64
	// Retries counts the repetitions after transient errors.
	Retries int
}

// Gauges say how things are now. Their tags name them in JSON and as metrics
// (package mirrormetrics).
type Gauges struct {
	Objects          int64 `json:"objects" metric:"objects" help:"Local copies."`
	Bytes            int64 `json:"bytes" metric:"bytes" help:"Bytes of the local copies."`
	QueuedDownloads  int   `json:"queuedDownloads" metric:"queued_downloads" help:"Downloads that wait for their turn or a free slot."`
	PendingEvictions int   `json:"pendingEvictions" metric:"pending_evictions" help:"Evictions that wait for their turn."`
	BusyPaths        int   `json:"busyPaths" metric:"busy_paths" help:"Paths with an operation running or waiting."`
	OpenFiles        int   `json:"openFiles" metric:"open_files" help:"Files open for reads, idle ones included."`
	Uploads          int   `json:"uploads" metric:"uploads" help:"Multipart uploads in progress that have a local side."`
	UploadBytes      int64 `json:"uploadBytes" metric:"upload_bytes" help:"Bytes of the parts of those uploads, which are not among those of local copies."`
	ClaimedNames     int   `json:"claimedNames" metric:"claimed_names" help:"Local file names in use, by copies or copies in the making."`
	Leftovers        int   `json:"leftovers" metric:"leftovers" help:"Local copies whose files could not be removed yet: they take space that is not counted."`
}

// Counters only grow. Their tags name them in JSON and as metrics.
type Counters struct {
	Hits                int64 `json:"hits" metric:"hits_total" help:"Reads that found the local copy."`
	NotLocal            int64 `json:"notLocal" metric:"not_local_total" help:"Local reads that missed."`
	ReadThroughs        int64 `json:"readThroughs" metric:"read_throughs_total" help:"Reads that downloaded their object first."`
	Refetches           int64 `json:"refetches" metric:"refetches_total" help:"Reads routed to Refetch."`
	RemoteReads         int64 `json:"remoteReads" metric:"remote_reads_total" help:"Reads routed to Remote or Observe."`
	Observed            int64 `json:"observed" metric:"observed_total" help:"Objects shown to the policy."`
	MirrorWrites        int64 `json:"mirrorWrites" metric:"writes_total" help:"Writes installed locally."`
	WriteCommitted      int64 `json:"writeCommitted" metric:"writes_committed_total" help:"Writes that failed after the remote had them."`
	Downloads           int64 `json:"downloads" metric:"downloaded_objects_total" help:"Objects downloaded and installed."`
	DownloadedBytes     int64 `json:"downloadedBytes" metric:"downloaded_bytes_total" help:"Bytes received by downloads."`
	DownloadRetries     int64 `json:"downloadRetries" metric:"download_retries_total" help:"Repetitions of downloads after transient errors."`
	DownloadFailures    int64 `json:"downloadFailures" metric:"download_failures_total" help:"Downloads that failed, canceled ones aside."`
	PrefetchFailures    int64 `json:"prefetchFailures" metric:"prefetch_failures_total" help:"Prefetches that failed."`
	Evictions           int64 `json:"evictions" metric:"evictions_total" help:"Local copies evicted."`
	EvictionsCanceled   int64 `json:"evictionsCanceled" metric:"evictions_canceled_total" help:"Evictions canceled by a later operation."`
	Heals               int64 `json:"heals" metric:"heals_total" help:"Damaged blocks found and replaced by a refetch."`
	HealFailures        int64 `json:"healFailures" metric:"heal_failures_total" help:"Damaged blocks that could not be replaced."`
	LocalErrors         int64 `json:"localErrors" metric:"local_errors_total" help:"Local I/O that failed."`
	ScanRemoved         int64 `json:"scanRemoved" metric:"scan_removed_total" help:"Local copies that remote scans removed."`
	ScanFailures        int64 `json:"scanFailures" metric:"scan_failures_total" help:"Remote scans that failed."`
	StaleEntriesDropped int64 `json:"staleEntriesDropped" metric:"stale_entries_dropped_total" help:"Local copies found missing or cut when read."`
}

// ScanResult describes one remote scan.
type ScanResult struct {
	Started, Finished time.Time
	// Local is the number of local files looked at, Prefixes the number of
	// LIST calls made, Removed the local copies absent remotely.
	Local, Prefixes, Removed int
	// Failed counts prefixes whose LIST failed; their files were left alone.
	Failed int
}

// StartupResult is what Open found in the directory.
type StartupResult = local.StartupResult

// counters are Counters that many goroutines count with; only bump and load
// touch the numbers.
type counters struct {
	_ [0]atomic.Int64 // aligns the numbers on 32-bit machines
	Counters
}

// bump adds to one of the counters.
func bump(counter *int64, n int64) { atomic.AddInt64(counter, n) }

// load reads every number, each at a moment of its own.
func (c *counters) load() Counters {
	var now Counters
	from, to := reflect.ValueOf(&c.Counters).Elem(), reflect.ValueOf(&now).Elem()
	for i := range from.NumField() {
		to.Field(i).SetInt(atomic.LoadInt64(from.Field(i).Addr().Interface().(*int64)))
	}
	return now
}
