package objectstore

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// Transient marks err as one that a repetition of the same call may mend, such
// as a server's "slow down". after is the least time to wait before it, as the
// server asked for, or zero. Transient(nil, d) is nil.
func Transient(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &transient{err, max(0, after)}
}

type transient struct {
	err   error
	after time.Duration
}

func (t *transient) Error() string { return t.err.Error() }
func (t *transient) Unwrap() error { return t.err }

// IsTransient reports whether a repetition of the call that failed with err may
// succeed. It is the one rule that every retry loop over Stores goes by:
//
//   - never, when the chain carries [NonRetryable];
//   - yes, when it carries [Transient];
//   - never, for the sentinels of this package and for a canceled context;
//   - yes, for a connection that broke, was refused or timed out, and for a
//     body cut short (io.ErrUnexpectedEOF);
//   - no, for everything else: what is not known to mend is reported.
//
// An error does not tell whose deadline passed: dials, headers and whole
// requests that time out look like an ended context. So every time-out counts,
// and a loop first checks whether its own context has ended.
func IsTransient(err error) bool {
	if err == nil || IsNonRetryable(err) {
		return false
	}
	if _, ok := errors.AsType[*transient](err); ok {
		return true
	}
	for _, final := range [...]error{
		ErrNotFound, ErrAlreadyExists, ErrPrecondition, ErrNotModified, ErrPermissionDenied,
		ErrUnauthenticated, ErrUnsupported, ErrInvalidPath, ErrInvalidRange, ErrInvalidOption,
		ErrUploadNotFound, ErrInvalidPart, ErrNoSpace, ErrClosed, ErrNoBucket,
		context.Canceled,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	for _, broken := range [...]error{
		io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET, syscall.EHOSTDOWN,
	} {
		if errors.Is(err, broken) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// RetryAfter returns how long the store asked callers to wait before they
// repeat the call that failed with err, or zero when it did not say.
func RetryAfter(err error) time.Duration {
	if marked, ok := errors.AsType[*transient](err); ok {
		return marked.after
	}
	return 0
}
