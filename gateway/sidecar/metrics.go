package sidecar

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/mirror/mirrormetrics"
)

// metrics are the sidecar's own; the mirror and the upstream bring collectors.
type metrics struct {
	registry       *prometheus.Registry
	requests       *prometheus.CounterVec
	seconds        *prometheus.HistogramVec
	sent           prometheus.Counter
	received       prometheus.Counter
	fallbackReads  prometheus.Counter
	fallbackWrites prometheus.Counter
}

func newMetrics(s *Sidecar, upstream prometheus.Collector) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stardust_s3_requests_total", Help: "Requests served, by S3 operation and HTTP status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stardust_s3_request_seconds", Help: "Time from a request's arrival to its last byte.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"operation"}),
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stardust_s3_sent_bytes_total", Help: "Bytes of response bodies.",
		}),
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stardust_s3_received_bytes_total", Help: "Decoded bytes of request bodies.",
		}),
		fallbackReads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stardust_sidecar_reads_not_local_total", Help: "Reads that went upstream because the local disk failed.",
		}),
		fallbackWrites: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "stardust_sidecar_writes_not_local_total", Help: "Writes that are durable upstream but whose local part failed.",
		}),
	}
	ready := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "stardust_sidecar_ready", Help: "1 once everything that the policy keeps is local.",
	}, func() float64 {
		if s.warm.Load().ready() {
			return 1
		}
		return 0
	})
	for _, c := range []prometheus.Collector{
		m.requests, m.seconds, m.sent, m.received, m.fallbackReads, m.fallbackWrites, ready,
		mirrormetrics.NewCollector(s.mirror), upstream,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := m.registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// observe counts a request.
func (m *metrics) observe(o s3.Observation) {
	m.requests.WithLabelValues(o.Operation, strconv.Itoa(o.Status)).Inc()
	m.seconds.WithLabelValues(o.Operation).Observe(o.Duration.Seconds())
	m.sent.Add(float64(o.Sent))
	m.received.Add(float64(o.Received))
}
