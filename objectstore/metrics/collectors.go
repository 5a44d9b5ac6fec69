package metrics

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/objectstore"
)

// Collectors are the metrics of one store, or of several together. They are a
// prometheus.Collector: register them.
type Collectors struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
}

var _ prometheus.Collector = (*Collectors)(nil)

// NewCollectors returns collectors with these labels on every metric, such as
// the name of the store; nil means none. The metrics are
//
//   - stardust_objectstore_requests_total{op, result}: calls that ended, by
//     operation and by what became of them, see [Result];
//   - stardust_objectstore_request_seconds{op}: how long they took, for a Get
//     until its body was closed;
//   - stardust_objectstore_bytes_total{direction}: payload bytes received and
//     sent; those of a local file that a server sends by itself count when the
//     file is opened;
//   - stardust_objectstore_requests_in_flight{op}: calls that have begun and
//     not ended.
func NewCollectors(labels prometheus.Labels) *Collectors {
	const namespace, subsystem = "stardust", "objectstore"
	return &Collectors{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_total", ConstLabels: labels,
			Help: "Calls to the object store that ended.",
		}, []string{"op", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "request_seconds", ConstLabels: labels,
			Help:    "Duration of calls to the object store.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10), // 0.1 ms to 26 s
		}, []string{"op"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "bytes_total", ConstLabels: labels,
			Help: "Payload bytes received from and sent to the object store.",
		}, []string{"direction"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_in_flight", ConstLabels: labels,
			Help: "Calls to the object store that have begun and not ended.",
		}, []string{"op"}),
	}
}

// Describe implements prometheus.Collector.
func (c *Collectors) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range c.all() {
		one.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (c *Collectors) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c.all() {
		one.Collect(ch)
	}
}

func (c *Collectors) all() []prometheus.Collector {
	return []prometheus.Collector{c.requests, c.seconds, c.bytes, c.inFlight}
}

// Result returns the label of what became of a call: "ok", "not_found",
// "exists", "precondition", "not_modified", "denied", "invalid", "unsupported",
// "no_space", "canceled", "transient" or "error".
func Result(err error) string {
	if err == nil {
		return "ok"
	}
	for _, c := range [...]struct {
		target error
		label  string
	}{
		{objectstore.ErrNotFound, "not_found"},
		{objectstore.ErrUploadNotFound, "not_found"},
		{objectstore.ErrAlreadyExists, "exists"},
		{objectstore.ErrPrecondition, "precondition"},
		{objectstore.ErrNotModified, "not_modified"},
		{objectstore.ErrPermissionDenied, "denied"},
		{objectstore.ErrUnauthenticated, "denied"},
		{objectstore.ErrInvalidPath, "invalid"},
		{objectstore.ErrInvalidRange, "invalid"},
		{objectstore.ErrInvalidOption, "invalid"},
		{objectstore.ErrInvalidPart, "invalid"},
		{objectstore.ErrUnsupported, "unsupported"},
		{objectstore.ErrNoSpace, "no_space"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "canceled"},
	} {
		if errors.Is(err, c.target) {
			return c.label
		}
	}
	if objectstore.IsTransient(err) {
		return "transient"
	}
	return "error"
}
