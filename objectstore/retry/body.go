package retry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/objectstore"
)

// resume makes the result's body go on after a transient error. A local file's
// stays as it is, as does that of a store without ETags, where the object may
// be another by then.
func (s *store) resume(ctx context.Context, a *attempts, path objectstore.Path, options *objectstore.GetOptions, result *objectstore.GetResult) {
	if _, local := result.Body.(objectstore.FileBody); local || result.Meta.ETag == "" {
		return
	}
	b := &body{ctx: ctx, store: s, attempts: a, path: path, inner: result.Body, at: result.Start, end: result.End}
	b.options = objectstore.GetOptions{IfMatch: result.Meta.ETag, Version: result.Meta.Version}
	if options != nil {
		b.options.Extensions = options.Extensions
	}
	a.progress()
	result.Body = b
}

// body reads one version of an object, by as many calls as it takes.
type body struct {
	ctx      context.Context //nolint:containedctx // that of the call whose body this is
	store    *store
	attempts *attempts
	path     objectstore.Path
	options  objectstore.GetOptions
	inner    io.ReadCloser // nil after Close
	at, end  int64
	err      error // sticky
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	for {
		n, err := b.inner.Read(p)
		b.at += int64(n)
		if n > 0 {
			b.attempts.progress()
		}
		if errors.Is(err, io.EOF) && b.at < b.end {
			// A body must not be short. A store that sends a short one has a fault that
			// may be gone with the next call.
			err = fmt.Errorf("%d bytes are missing: %w", b.end-b.at, io.ErrUnexpectedEOF)
		}
		if err == nil || errors.Is(err, io.EOF) || !objectstore.IsTransient(err) {
			b.err = err
			return n, err
		}
		if n > 0 && b.at < b.end {
			// What came is given first. The next Read meets the error again,
			// as errors of readers last.
			b.inner = &failed{b.inner, err}
			return n, nil
		}
		if b.at >= b.end {
			b.err = err // all has come: nothing to go on with
			return n, err
		}
		if err := b.reopen(err); err != nil {
			b.err = err
			return n, err
		}
	}
}

// reopen goes on where the body broke off with cause.
func (b *body) reopen(cause error) error {
	_ = b.inner.Close()
	b.inner = io.NopCloser(bytes.NewReader(nil))
	if err := b.attempts.again(b.ctx, cause); err != nil {
		return err
	}
	options := b.options
	options.Range = objectstore.Bounded(b.at, b.end)
	for {
		result, err := b.store.Store.Get(b.ctx, b.path, &options)
		switch {
		case err == nil && result.Start == b.at && result.End == b.end && result.Meta.ETag == b.options.IfMatch:
			b.inner = result.Body
			return nil
		case err == nil:
			_ = result.Body.Close()
			return b.fail(fmt.Errorf("%w: the answer is not the rest of the object", objectstore.ErrPrecondition), cause)
		case errors.Is(err, objectstore.ErrPrecondition), errors.Is(err, objectstore.ErrNotFound):
			return b.fail(fmt.Errorf("%w: the object was replaced or deleted while it was read", err), cause)
		}
		if err := b.attempts.again(b.ctx, err); err != nil {
			return err
		}
	}
}

func (b *body) fail(err, cause error) error {
	return &objectstore.Error{
		Op: "read", Store: b.store.String(), Path: string(b.path),
		// The cause alone would look as if reading again could help.
		Err: objectstore.NonRetryable(fmt.Errorf("%w, which broke off at byte %d: %w", err, b.at, cause)),
	}
}

func (b *body) Close() error { return b.inner.Close() }

// failed is a body after its error.
type failed struct {
	io.Closer
	err error
}

func (f *failed) Read([]byte) (int, error) { return 0, f.err }

// sameBytes reports whether both readers yield the same bytes without error.
func sameBytes(a, b io.Reader) bool {
	x, y := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, errX := io.ReadFull(a, x)
		m, errY := io.ReadFull(b, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if errX != nil || errY != nil {
			return isEnd(errX) && isEnd(errY)
		}
	}
}

// isEnd reports whether err is ReadFull's of a reader that ended in order. A
// reader's own io.ErrUnexpectedEOF comes wrapped.
func isEnd(err error) bool {
	return err == io.EOF || err == io.ErrUnexpectedEOF // a wrapped one is the reader's
}
