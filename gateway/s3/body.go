package s3

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// openPayload prepares the request's body, at most limit bytes. Nothing is
// read, so that a client which expects 100-continue has not sent it yet.
func (x *exchange) openPayload(limit int64) (*auth.Payload, error) {
	return x.openPayloadWith(limit, x.lookup)
}

// openPayloadWith is openPayload with the headers that lookup shows of checksums.
func (x *exchange) openPayloadWith(limit int64, lookup func(string) (string, bool)) (*auth.Payload, error) {
	p, err := x.identity.Payload(x.r, x.raw(), lookup)
	if err != nil {
		return nil, err
	}
	if p.Size() > limit {
		return nil, s3err.EntityTooLarge.New().
			With("ProposedSize", strconv.FormatInt(p.Size(), 10)).With("MaxSizeAllowed", strconv.FormatInt(limit, 10))
	}
	x.payload = p
	if x.expectsNothing() {
		x.w.WriteHeader(http.StatusContinue)
		x.continued = true
	}
	return p, nil
}

// raw returns the request's body as it comes, of a client that may not stall.
func (x *exchange) raw() io.Reader {
	if x.options.StallTimeout <= 0 {
		return x.r.Body
	}
	return &stallingBody{Reader: x.r.Body, control: http.NewResponseController(x.w), limit: x.options.StallTimeout}
}

// expectsNothing reports whether the client waits for 100 Continue before it
// sends an empty body. net/http answers for others when they are read; S3
// answers all, and without that botocore misreads the next answer on the
// connection.
func (x *exchange) expectsNothing() bool {
	return x.r.ContentLength == 0 && x.r.ProtoMajor == 1 && !x.continued &&
		strings.EqualFold(x.r.Header.Get("Expect"), "100-continue")
}

// body returns the payload as a Store takes it: small ones read whole and
// verified, so that the Store can repeat its write, larger ones as a stream.
// release gives the memory back after the write.
func (x *exchange) body(p *auth.Payload) (body objectstore.Body, release func(), err error) {
	if p.Size() > x.options.BufferSize || !x.h.memory.TryAcquire(p.Size()) {
		return objectstore.Stream(p, p.Size()), func() {}, nil
	}
	release = func() { x.h.memory.Release(p.Size()) }
	var b bytes.Buffer
	b.Grow(int(p.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(p); err != nil {
		release()
		return objectstore.Body{}, nil, err
	}
	return objectstore.Bytes(b.Bytes()), release, nil
}

// takeMemory takes n bytes of the memory for bodies or asks the client to come back.
// release gives them back.
func (x *exchange) takeMemory(n int64) (release func(), err error) {
	if !x.h.memory.TryAcquire(n) {
		x.w.Header().Set("Retry-After", "1")
		return nil, s3err.TooManyBodies.New()
	}
	return func() { x.h.memory.Release(n) }, nil
}

// readDocument reads and verifies a request's XML body. required says that it
// must come with a digest, as S3 demands where a damaged body could do harm.
// What child keeps may be as large as the body, so it counts against
// Options.MaxBufferedBytes unless it is small.
func (x *exchange) readDocument(root string, required bool, child func(xmlChild) error) error {
	lookup := x.lookup
	if root == "CompleteMultipartUpload" {
		// Its x-amz-checksum- headers tell of the object.
		lookup = func(string) (string, bool) { return "", false }
	}
	p, err := x.openPayloadWith(maxDocument, lookup)
	if err != nil {
		return err
	}
	if p.Size() > freeDocument {
		release, err := x.takeMemory(min(2*p.Size(), x.options.MaxBufferedBytes))
		if err != nil {
			return err
		}
		defer release()
	}
	if required && p.Declared().Algorithm == "" && x.r.Header.Get("Content-Md5") == "" && !x.identity.Hashed() {
		return s3err.DigestMissing.New()
	}
	parseErr := parseDocument(p, root, child)
	if parseErr != nil {
		// A wrong digest explains a malformed document better.
		_, _ = io.Copy(io.Discard, p)
	}
	if err := p.Failure(); err != nil {
		return err
	}
	return parseErr
}

// stallingBody gives every read of a request's body the same time.
type stallingBody struct {
	io.Reader
	control *http.ResponseController
	limit   time.Duration
	next    time.Time // when to move the deadline on
}

// Read implements io.Reader.
func (b *stallingBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.After(b.next) { //nolint:forbidigo // the network knows no other clock
		_ = b.control.SetReadDeadline(now.Add(b.limit))
		b.next = now.Add(b.limit / 8)
	}
	n, err := b.Reader.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
