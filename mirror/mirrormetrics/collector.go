// Package mirrormetrics shows a mirror's statistics to Prometheus. It is apart
// from package mirror so that a mirror can be used without it.
package mirrormetrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/mirror"
)

// Collector is a prometheus.Collector of one mirror. Register it with a registry;
// it may be used concurrently, and reads the mirror's statistics at each scrape.
type Collector struct {
	handle  mirror.Handle
	metrics []metric
}

// metric is one number of the statistics.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*mirror.Stats) int64
}

// NewCollector returns the collector of a mirror. It holds no resources; after
// the mirror's Close it reports what was last. Two mirrors in one registry need
// different labels: register each with prometheus.WrapRegistererWith.
func NewCollector(m *mirror.Mirror) *Collector {
	c := &Collector{handle: m.Handle()}
	gauge := func(name, help string, value func(*mirror.Stats) int64) {
		c.add(prometheus.GaugeValue, name, help, value)
	}
	counter := func(name, help string, value func(*mirror.Stats) int64) {
		c.add(prometheus.CounterValue, name+"_total", help, value)
	}
	gauge("objects", "Local copies.", func(s *mirror.Stats) int64 { return s.Objects })
	gauge("bytes", "Bytes of the local copies.", func(s *mirror.Stats) int64 { return s.Bytes })
	gauge("downloads", "Downloads in flight.", func(s *mirror.Stats) int64 { return int64(len(s.Downloads)) })
	gauge("queued_downloads", "Downloads that wait for their place in line or a free slot.", func(s *mirror.Stats) int64 { return int64(s.QueuedDownloads) })
	gauge("pending_evictions", "Evictions that wait for their place in line.", func(s *mirror.Stats) int64 { return int64(s.PendingEvictions) })
	gauge("busy_paths", "Paths with an operation running or waiting.", func(s *mirror.Stats) int64 { return int64(s.BusyPaths) })
	gauge("uploads", "Multipart uploads in progress that have a local side.", func(s *mirror.Stats) int64 { return int64(s.Uploads) })
	gauge("upload_bytes", "Bytes of their parts.", func(s *mirror.Stats) int64 { return s.UploadBytes })
	gauge("leftovers", "Local copies whose files could not be removed.", func(s *mirror.Stats) int64 { return int64(s.Leftovers) })
	gauge("last_scan_timestamp_seconds", "When the last remote scan ended, in seconds since 1970; 0 before the first.", func(s *mirror.Stats) int64 { return unix(s.LastScan.Finished) })
	gauge("open_files", "Files held open for reads.", func(s *mirror.Stats) int64 { return int64(s.OpenFiles) })

	counter("hits", "Reads that found the local copy.", func(s *mirror.Stats) int64 { return s.Hits })
	counter("not_local", "Local reads that missed.", func(s *mirror.Stats) int64 { return s.NotLocal })
	counter("read_throughs", "Reads that downloaded their object first.", func(s *mirror.Stats) int64 { return s.ReadThroughs })
	counter("refetches", "Reads routed to Refetch.", func(s *mirror.Stats) int64 { return s.Refetches })
	counter("remote_reads", "Reads answered by the remote.", func(s *mirror.Stats) int64 { return s.RemoteReads })
	counter("observed", "Objects shown to the policy.", func(s *mirror.Stats) int64 { return s.Observed })
	counter("writes", "Writes installed locally.", func(s *mirror.Stats) int64 { return s.MirrorWrites })
	counter("writes_committed", "Writes that failed after the remote had them.", func(s *mirror.Stats) int64 { return s.WriteCommitted })
	counter("downloaded_objects", "Objects downloaded and installed.", func(s *mirror.Stats) int64 { return s.Counters.Downloads })
	counter("downloaded_bytes", "Bytes received by downloads.", func(s *mirror.Stats) int64 { return s.DownloadedBytes })
	counter("download_retries", "Repetitions of downloads after transient errors.", func(s *mirror.Stats) int64 { return s.DownloadRetries })
	counter("download_failures", "Downloads that failed.", func(s *mirror.Stats) int64 { return s.DownloadFailures })
	counter("prefetch_failures", "Prefetches that failed.", func(s *mirror.Stats) int64 { return s.PrefetchFailures })
	counter("evictions", "Local copies evicted.", func(s *mirror.Stats) int64 { return s.Evictions })
	counter("evictions_cancelled", "Evictions cancelled by a later operation.", func(s *mirror.Stats) int64 { return s.EvictionsCancelled })
	counter("heals", "Damaged blocks replaced by a refetch.", func(s *mirror.Stats) int64 { return s.Heals })
	counter("heal_failures", "Damaged blocks that could not be replaced.", func(s *mirror.Stats) int64 { return s.HealFailures })
	counter("local_errors", "Failures of the local disk.", func(s *mirror.Stats) int64 { return s.LocalErrors })
	counter("scan_removed", "Local copies that remote scans removed.", func(s *mirror.Stats) int64 { return s.ScanRemoved })
	counter("scan_failures", "Remote scans that failed.", func(s *mirror.Stats) int64 { return s.ScanFailures })
	counter("stale_entries_dropped", "Local copies found missing or cut when read.", func(s *mirror.Stats) int64 { return s.StaleEntriesDropped })
	return c
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func (c *Collector) add(kind prometheus.ValueType, name, help string, value func(*mirror.Stats) int64) {
	desc := prometheus.NewDesc("stardust_mirror_"+name, help, nil, nil)
	c.metrics = append(c.metrics, metric{desc, kind, value})
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		to <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	stats := c.handle.Stats()
	for _, m := range c.metrics {
		to <- prometheus.MustNewConstMetric(m.desc, m.kind, float64(m.value(&stats)))
	}
}
