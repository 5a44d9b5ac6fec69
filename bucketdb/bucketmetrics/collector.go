// Package bucketmetrics shows Prometheus how far a bucket is behind the file
// that bucketdb.Follow pushes. It is separate so that package bucketdb does not
// depend on Prometheus.
package bucketmetrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/bucketdb"
)

// Collector is a prometheus.Collector of one Follow, to whose statuses it listens.
// It may be used concurrently.
type Collector struct {
	now   func() time.Time
	descs [len(names)]*prometheus.Desc

	mu       sync.Mutex
	last     bucketdb.Status
	failures int64
	pushes   int64
	stored   int64
}

// names are the metrics, in the order of Collect.
var names = [...]struct {
	name, help string
	kind       prometheus.ValueType
}{
	{"lag_seconds", "For how long the bucket has lacked something of the file; 0 when it lacks nothing.", prometheus.GaugeValue},
	{"file_revision", "The file's latest revision.", prometheus.GaugeValue},
	{"pushed_revision", "The latest revision that the bucket has.", prometheus.GaugeValue},
	{"pushes_total", "Pushes that succeeded.", prometheus.CounterValue},
	{"push_failures_total", "Pushes that failed.", prometheus.CounterValue},
	{"pushed_bytes_total", "Bytes of packs that were sent.", prometheus.CounterValue},
}

// NewCollector returns a collector that has seen no status yet. now is the
// clock that Follow uses; nil means time.Now.
func NewCollector(now func() time.Time) *Collector {
	c := &Collector{now: now}
	if now == nil {
		c.now = time.Now //nolint:forbidigo // the default clock
	}
	for i, m := range names {
		c.descs[i] = prometheus.NewDesc("stardust_bucket_"+m.name, m.help, nil, nil)
	}
	return c
}

// Listen notes a status: call it from FollowOptions.Status.
func (c *Collector) Listen(s bucketdb.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = s
	switch {
	case s.Report == nil: // a push begins
		return
	case s.Err != nil:
		c.failures++
	default:
		c.pushes++
	}
	c.stored += s.Report.Stored
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lag := 0.0
	if !c.last.Since.IsZero() {
		lag = max(0, c.now().Sub(c.last.Since).Seconds())
	}
	for i, value := range [len(names)]float64{
		lag, float64(c.last.Local), float64(c.last.Pushed), float64(c.pushes), float64(c.failures), float64(c.stored),
	} {
		to <- prometheus.MustNewConstMetric(c.descs[i], names[i].kind, value)
	}
}
