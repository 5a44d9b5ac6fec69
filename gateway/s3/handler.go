package s3

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// Handler serves buckets over S3's protocol. It is an [http.Handler], safe for
// concurrent use. It must see the request's path as the client sent it: don't
// put it behind an http.ServeMux, which redirects "a//b" and "a/../b", keys
// that S3 allows.
type Handler struct {
	options Options
	auth    *auth.Verifier
	buckets *bucketSet
	// creating is held while a bucket is made.
	creating sync.Mutex
	slots    *semaphore.Weighted // requests
	memory   *semaphore.Weighted // bytes of buffered bodies
	buffers  sync.Pool           // of *[]byte, copyBufferSize each
	// completed are the latest completed multipart uploads.
	completed completedUploads
	// sums are the checksums of the parts of uploads in progress.
	sums uploadSums
}

// copyBufferSize is the size of the buffers that bodies are copied through.
const copyBufferSize = 64 << 10

// NewHandler returns a Handler that serves store under the name
// Options.Bucket, and all of Options.Buckets. A nil store needs an empty
// Options.Bucket. The stores stay the caller's to close, after [Handler.Close].
func NewHandler(store objectstore.Store, options Options) (*Handler, error) {
	options, err := options.normalize(store)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		options: options,
		auth: auth.NewVerifier(auth.Options{
			Secrets: options.Credentials, Anonymous: options.Anonymous, Region: options.Region, Clock: options.Clock,
		}),
		buckets: &bucketSet{byName: make(map[string]*bucket)},
		slots:   semaphore.NewWeighted(int64(options.MaxConcurrentRequests)),
		memory:  semaphore.NewWeighted(options.MaxBufferedBytes),
	}
	h.buffers.New = func() any {
		b := make([]byte, copyBufferSize)
		return &b
	}
	for name, store := range options.Buckets {
		h.buckets.add(h.newBucket(name, store, false))
	}
	return h, nil
}

// Close aborts the multipart uploads that only this Handler knows: those on
// Stores that are not an [objectstore.MultipartStore]. Call it after the server
// has shut down.
func (h *Handler) Close(ctx context.Context) error {
	var errs []error
	for _, b := range h.buckets.list() {
		errs = append(errs, b.close(ctx))
	}
	return errors.Join(errs...)
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{h: h}
	x.r, x.options = r, &h.options
	x.response = response{w: w, id: newRequestID(), head: r.Method == http.MethodHead, timeout: h.options.StallTimeout, buffers: &h.buffers}
	start := h.options.Clock()
	// Assigned directly, as the other headers of every GET: the names are in
	// canonical form.
	values := [...]string{x.id, "Stardust"}
	header := w.Header()
	header["X-Amz-Request-Id"] = values[0:1:1]
	header["Server"] = values[1:2:2]
	var failure *Failure
	if err := x.serve(); err != nil {
		failure = x.fail(err)
	}
	x.stall(0)
	o := Observation{
		RequestID: x.id, Operation: x.operation, Bucket: x.bucketName, Key: x.key,
		AccessKey: x.identity.AccessKey, Status: x.status, Sent: x.sent,
		Duration: h.options.Clock().Sub(start),
	}
	if x.payload != nil {
		o.Received = x.payload.Received()
	}
	if failure != nil {
		o.Code, o.Err = failure.Code(), failure
	}
	h.observe(r.Context(), o)
	if x.broken {
		// The status is out but the body is not complete: net/http's way to
		// break the connection, so that the client can't take it for whole.
		panic(http.ErrAbortHandler)
	}
}

// newRequestID returns 16 hexadecimal digits.
func newRequestID() string {
	const digits = "0123456789ABCDEF"
	var id [16]byte
	for i, n := 0, rand.Uint64(); i < len(id); i, n = i+1, n>>4 {
		id[i] = digits[n&15]
	}
	return string(id[:])
}

// observe logs and reports how a request went.
func (h *Handler) observe(ctx context.Context, o Observation) {
	level := slog.LevelDebug
	if o.Status >= http.StatusInternalServerError && o.Code != s3err.TooManyRequests.Code() && o.Code != s3err.NotImplemented.Code() && ctx.Err() == nil {
		level = slog.LevelError
	}
	if h.options.Logger.Enabled(ctx, level) {
		attrs := []slog.Attr{
			slog.String("id", o.RequestID), slog.String("operation", o.Operation),
			slog.String("bucket", o.Bucket), slog.String("key", o.Key),
			slog.String("access_key", o.AccessKey), slog.Int("status", o.Status),
			slog.Int64("sent", o.Sent), slog.Int64("received", o.Received),
			slog.Duration("took", o.Duration),
		}
		if o.Err != nil {
			attrs = append(attrs, slog.String("code", o.Code), slog.Any("error", o.Err))
		}
		h.options.Logger.LogAttrs(ctx, level, "s3 request", attrs...)
	}
	if h.options.Observe != nil {
		h.options.Observe(o)
	}
}
