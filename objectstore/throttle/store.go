package throttle

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// Options are the options of [New]. The zero value slows nothing.
type Options struct {
	// Latency is how long every call waits before it begins.
	Latency time.Duration
	// BytesPerSecond bounds the bytes read and written by all calls together;
	// zero means no bound.
	BytesPerSecond int64
	// Sleep waits; nil means a timer that ends with the context.
	Sleep func(ctx context.Context, d time.Duration) error
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// New returns a store that is as slow as the options say. It has the optional
// interfaces that inner has. With a bandwidth no body is a FileBody, which
// could not be slowed.
func New(inner objectstore.Store, options Options) objectstore.Store {
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // the default clock
	}
	if options.Sleep == nil {
		options.Sleep = clock.Sleep
	}
	hooks := intercept.Hooks{}
	if options.Latency > 0 {
		hooks.Around = func(ctx context.Context, call intercept.Call, run func(context.Context) error) error {
			if err := options.Sleep(ctx, options.Latency); err != nil {
				return &objectstore.Error{Op: call.Op, Store: inner.String(), Path: string(call.Path), Err: err}
			}
			return run(ctx)
		}
	}
	if options.BytesPerSecond > 0 {
		line := &line{options: options}
		hooks.Send = func(ctx context.Context, _ intercept.Call, body objectstore.Body) objectstore.Body {
			if body.Validate() != nil {
				return body
			}
			reader := body.Open()
			if at, ok := reader.(io.ReaderAt); ok && body.Replayable() {
				return objectstore.ReaderAt(&slowReaderAt{ctx, at, line}, body.Size())
			}
			return objectstore.Stream(&slowReader{ctx, reader, line}, body.Size())
		}
		hooks.Receive = func(ctx context.Context, _ intercept.Call, result *objectstore.GetResult) {
			result.Body = &slowBody{slowReader{ctx, result.Body, line}, result.Body}
		}
	}
	return intercept.View(intercept.New(inner, hooks), inner)
}

// line is what all bytes go through, one after the other.
type line struct {
	options Options

	mu   sync.Mutex
	free time.Time // when what has been sent so far will be through
}

// pass waits until n bytes are through.
func (l *line) pass(ctx context.Context, n int) error {
	l.mu.Lock()
	now := l.options.Now()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / float64(l.options.BytesPerSecond) * float64(time.Second)))
	wait := l.free.Sub(now)
	l.mu.Unlock()
	if n <= 0 || wait <= 0 {
		return nil
	}
	return l.options.Sleep(ctx, wait)
}

// step is how many bytes are sent at a time, so that several senders share.
const step = 64 << 10

type slowReader struct {
	ctx    context.Context //nolint:containedctx // that of the call whose body this is
	reader io.Reader
	line   *line
}

func (r *slowReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p[:min(len(p), step)])
	if slept := r.line.pass(r.ctx, n); slept != nil {
		return n, slept
	}
	return n, err
}

type slowBody struct {
	slowReader
	io.Closer
}

type slowReaderAt struct {
	ctx    context.Context //nolint:containedctx // that of the call whose body this is
	reader io.ReaderAt
	line   *line
}

func (r *slowReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.reader.ReadAt(p, off)
	if slept := r.line.pass(r.ctx, n); slept != nil {
		return n, slept
	}
	return n, err
}
