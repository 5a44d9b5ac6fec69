package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

func TestTransientErrorsAreTold(t *testing.T) {
	wrap := func(err error) error {
		return &objectstore.Error{Op: "get", Path: "x", Err: fmt.Errorf("deep: %w", err)}
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nil":                  {nil, false},
		"unknown":              {errors.New("unknown"), false},
		"marked":               {wrap(objectstore.Transient(errors.New("slow down"), 0)), true},
		"marked sentinel":      {objectstore.Transient(objectstore.ErrPrecondition, 0), true},
		"non-retryable within": {objectstore.Transient(objectstore.NonRetryable(errors.New("x")), 0), false},
		"non-retryable around": {objectstore.NonRetryable(objectstore.Transient(errors.New("x"), 0)), false},
		"not found":            {wrap(objectstore.ErrNotFound), false},
		"no space":             {wrap(objectstore.ErrNoSpace), false},
		"not found and reset":  {errors.Join(objectstore.ErrNotFound, syscall.ECONNRESET), false},
		"canceled":             {wrap(context.Canceled), false},
		"deadline":             {wrap(context.DeadlineExceeded), true},
		"I/O deadline":         {wrap(os.ErrDeadlineExceeded), true},
		"no route":             {wrap(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}), true},
		"cut body":             {wrap(io.ErrUnexpectedEOF), true},
		"plain EOF":            {io.EOF, false},
		"reset":                {wrap(&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}), true},
		"refused":              {wrap(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), true},
		"broken pipe":          {syscall.EPIPE, true},
		"timeout":              {wrap(&net.DNSError{Err: "timed out", IsTimeout: true}), true},
		"no such host":         {wrap(&net.DNSError{Err: "no such host", IsNotFound: true}), false},
		"i/o error":            {syscall.EIO, false},
	} {
		if got := objectstore.IsTransient(c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if objectstore.Transient(nil, time.Second) != nil || objectstore.NonRetryable(nil) != nil {
		t.Error("a marked nil is an error")
	}
	if d := objectstore.RetryAfter(wrap(objectstore.Transient(io.EOF, 3*time.Second))); d != 3*time.Second {
		t.Errorf("retry after %v", d)
	}
	if d := objectstore.RetryAfter(objectstore.Transient(io.EOF, -1)) + objectstore.RetryAfter(io.EOF) + objectstore.RetryAfter(nil); d != 0 {
		t.Errorf("retry after %v", d)
	}
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	var b objectstore.Backoff
	for n, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12800, 15000, 15000} {
		if got := b.Bound(n); got != want*time.Millisecond {
			t.Errorf("bound %d is %v", n, got)
		}
	}
	for _, c := range []struct {
		b    objectstore.Backoff
		n    int
		want time.Duration
	}{
		{b, 1 << 30, 15 * time.Second},
		{b, -5, 100 * time.Millisecond},
		{objectstore.Backoff{Init: time.Second, Max: 10 * time.Second, Factor: 3}, 2, 9 * time.Second},
		{objectstore.Backoff{Factor: 0.5}, 9, 100 * time.Millisecond},
		{objectstore.Backoff{Factor: math.NaN()}, 1, 15 * time.Second},
		{objectstore.Backoff{Factor: math.Inf(1)}, 1, 15 * time.Second},
		{objectstore.Backoff{Init: time.Hour, Max: time.Second}, 0, time.Second},
	} {
		if got := c.b.Bound(c.n); got != c.want {
			t.Errorf("%+v: bound %d is %v, want %v", c.b, c.n, got, c.want)
		}
	}
	if d := b.Delay(1, 0.25); d != 50*time.Millisecond {
		t.Errorf("delay is %v", d)
	}
	if d := b.Delay(1, -3) + b.Delay(1, 7); d != 200*time.Millisecond {
		t.Errorf("delay is %v", d)
	}
}
