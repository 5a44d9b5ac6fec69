// Package mirrormetrics shows a mirror's statistics to Prometheus. It is
// separate so that package mirror does not depend on Prometheus.
package mirrormetrics

import (
	"reflect"
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

// NewCollector returns the collector of a mirror. It needs no closing; after
// the mirror's Close it reports the last numbers. Two mirrors in one registry
// need different labels: register each with prometheus.WrapRegistererWith.
func NewCollector(m *mirror.Mirror) *Collector {
	c := &Collector{handle: m.Handle()}
	c.addAll(prometheus.GaugeValue, reflect.TypeFor[mirror.Gauges](), func(s *mirror.Stats) any { return &s.Gauges })
	c.addAll(prometheus.CounterValue, reflect.TypeFor[mirror.Counters](), func(s *mirror.Stats) any { return &s.Counters })
	c.add(prometheus.GaugeValue, "downloads", "Downloads in flight.", func(s *mirror.Stats) int64 { return int64(len(s.Downloads)) })
	c.add(prometheus.GaugeValue, "last_scan_timestamp_seconds", "When the last remote scan ended, in seconds since 1970; 0 before the first.",
		func(s *mirror.Stats) int64 { return unix(s.LastScan.Finished) })
	return c
}

// addAll adds a metric for every field of a struct of integers, as its tags say.
func (c *Collector) addAll(kind prometheus.ValueType, numbers reflect.Type, of func(*mirror.Stats) any) {
	for i := range numbers.NumField() {
		tag := numbers.Field(i).Tag
		c.add(kind, tag.Get("metric"), tag.Get("help"), func(s *mirror.Stats) int64 {
			return reflect.ValueOf(of(s)).Elem().Field(i).Int()
		})
	}
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
