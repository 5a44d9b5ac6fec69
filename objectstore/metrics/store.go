package metrics

import (
	"context"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// New returns a store that counts the calls to inner in collectors. It has the
// optional interfaces that inner has.
func New(inner objectstore.Store, collectors *Collectors) objectstore.Store {
	received, sent := collectors.bytes.WithLabelValues("received"), collectors.bytes.WithLabelValues("sent")
	return intercept.View(intercept.New(inner, intercept.Hooks{
		Begin: func(_ context.Context, call intercept.Call) (func(error), error) {
			begin := time.Now() //nolint:forbidigo // measures
			inFlight := collectors.inFlight.WithLabelValues(call.Op)
			inFlight.Inc()
			return func(err error) {
				inFlight.Dec()
				collectors.requests.WithLabelValues(call.Op, Result(err)).Inc()
				collectors.seconds.WithLabelValues(call.Op).Observe(time.Since(begin).Seconds())
				if err == nil {
					sent.Add(float64(call.Size))
				}
			}, nil
		},
		Receive: func(_ context.Context, _ intercept.Call, result *objectstore.GetResult) {
			if _, local := result.Body.(objectstore.FileBody); local {
				received.Add(float64(result.End - result.Start))
				return
			}
			result.Body = &counted{result.Body, received}
		},
	}), inner)
}

// counted counts the bytes that are read.
type counted struct {
	io.ReadCloser
	bytes prometheus.Counter
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(float64(n))
	return n, err
}
