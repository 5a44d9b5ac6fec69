package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are a server's, in a registry of its own.
type metrics struct {
	handler  http.Handler
	active   prometheus.Gauge
	requests *prometheus.CounterVec
	sent     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		active:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "stardust_http_requests_active", Help: "Requests under way."}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "stardust_http_requests_total", Help: "Requests that ended, by service and HTTP status."}, []string{"service", "status"}),
		sent:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "stardust_http_sent_bytes_total", Help: "Bytes of answers, by service."}, []string{"service"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stardust_http_request_seconds", Help: "How long requests took, by service.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10),
		}, []string{"service"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.active, m.requests, m.sent, m.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) begin() { m.active.Inc() }

func (m *metrics) end(service string, c *counted, took time.Duration) {
	m.active.Dec()
	m.requests.WithLabelValues(service, strconv.Itoa(c.status)).Inc()
	m.sent.WithLabelValues(service).Add(float64(c.bytes))
	m.seconds.WithLabelValues(service).Observe(took.Seconds())
}
