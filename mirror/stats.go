package mirror

import (
	"sync/atomic"
	"time"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// Stats is what a Mirror has done since Open, and what it is doing now.
type Stats struct {
	// Objects and Bytes are the local copies.
	Objects, Bytes int64
	// Downloads are in flight now, in the order of their paths.
	Downloads []DownloadProgress
	// QueuedDownloads wait for their place in line or a free slot.
	QueuedDownloads int
	// PendingEvictions wait for their place in line.
	PendingEvictions int
	// BusyPaths have an operation running or waiting.
	BusyPaths int
	// OpenFiles are held open for reads, idle ones included.
	OpenFiles int
	// Uploads are the multipart uploads in progress that have a local side, and
	// UploadBytes the bytes of their parts, which Bytes does not count.
	Uploads     int
	UploadBytes int64
	// ClaimedNames are the local names in use: of local copies and of those in
	// the making.
	ClaimedNames int
	// Leftovers are local copies whose files could not be removed. They take
	// space that Bytes does not count, and their removal is tried again.
	Leftovers int
	Counters
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

// Counters only grow.
type Counters struct {
	Hits                int64 `json:"hits"`                // reads that found the local copy
	NotLocal            int64 `json:"notLocal"`            // Local reads that missed
	ReadThroughs        int64 `json:"readThroughs"`        // reads that downloaded their object first
	Refetches           int64 `json:"refetches"`           // reads routed to Refetch
	RemoteReads         int64 `json:"remoteReads"`         // reads routed to Remote or Observe
	Observed            int64 `json:"observed"`            // calls of Policy.Observe
	MirrorWrites        int64 `json:"mirrorWrites"`        // writes installed locally
	WriteCommitted      int64 `json:"writeCommitted"`      // writes that failed after the remote had them
	Downloads           int64 `json:"downloads"`           // objects downloaded and installed
	DownloadedBytes     int64 `json:"downloadedBytes"`     // bytes received by downloads
	DownloadRetries     int64 `json:"downloadRetries"`     // repetitions after transient errors
	DownloadFailures    int64 `json:"downloadFailures"`    // downloads that failed, cancelled ones aside
	PrefetchFailures    int64 `json:"prefetchFailures"`    // prefetches that failed
	Evictions           int64 `json:"evictions"`           // local copies evicted
	EvictionsCancelled  int64 `json:"evictionsCancelled"`  // evictions cancelled by a later operation
	Heals               int64 `json:"heals"`               // damaged blocks found and replaced by a refetch
	HealFailures        int64 `json:"healFailures"`        // damaged blocks that could not be replaced
	LocalErrors         int64 `json:"localErrors"`         // local I/O that failed
	ScanRemoved         int64 `json:"scanRemoved"`         // local copies that remote scans removed
	ScanFailures        int64 `json:"scanFailures"`        // remote scans that failed
	StaleEntriesDropped int64 `json:"staleEntriesDropped"` // local copies found missing or cut when read
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

// counters are the atomic form of Counters.
type counters struct {
	hits, notLocal, readThroughs, refetches, remoteReads, observed atomic.Int64
	mirrorWrites, writeCommitted                                   atomic.Int64
	downloads, downloadedBytes, downloadRetries, downloadFailures  atomic.Int64
	prefetchFailures, evictions, evictionsCancelled                atomic.Int64
	heals, healFailures                                            atomic.Int64
	scanRemoved, scanFailures                                      atomic.Int64
}

func (c *counters) load() Counters {
	return Counters{
		Hits:               c.hits.Load(),
		NotLocal:           c.notLocal.Load(),
		ReadThroughs:       c.readThroughs.Load(),
		Refetches:          c.refetches.Load(),
		RemoteReads:        c.remoteReads.Load(),
		Observed:           c.observed.Load(),
		MirrorWrites:       c.mirrorWrites.Load(),
		WriteCommitted:     c.writeCommitted.Load(),
		Downloads:          c.downloads.Load(),
		DownloadedBytes:    c.downloadedBytes.Load(),
		DownloadRetries:    c.downloadRetries.Load(),
		DownloadFailures:   c.downloadFailures.Load(),
		PrefetchFailures:   c.prefetchFailures.Load(),
		Evictions:          c.evictions.Load(),
		EvictionsCancelled: c.evictionsCancelled.Load(),
		Heals:              c.heals.Load(),
		HealFailures:       c.healFailures.Load(),
		ScanRemoved:        c.scanRemoved.Load(),
		ScanFailures:       c.scanFailures.Load(),
	}
}
