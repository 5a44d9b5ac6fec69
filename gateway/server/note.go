package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// note is what is known of a request when it ends. Only the goroutine that
// serves the request uses it.
type note struct {
	service string
	user    string
	path    string // instead of the request's, when that has a secret
}

type noteKey struct{}

func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		return n
	}
	return new(note)
}

// counted counts what is sent and stops sending to a client that takes nothing.
type counted struct {
	http.ResponseWriter

	control *http.ResponseController
	stall   time.Duration
	status  int
	bytes   int64
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counted) WriteHeader(status int) {
	if c.status == 0 || c.status < http.StatusOK {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	if c.stall > 0 {
		_ = c.control.SetWriteDeadline(time.Now().Add(c.stall)) //nolint:forbidigo // the network knows no other clock
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// watched is a body that ends when the client stops sending.
type watched struct {
	body interface {
		Read(p []byte) (int, error)
		Close() error
	}
	control *http.ResponseController
	stall   time.Duration
	bytes   int64
}

func (b *watched) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.stall)) //nolint:forbidigo // the network knows no other clock
	n, err := b.body.Read(p)
	b.bytes += int64(n)
	if err == io.EOF {
		// net/http's watch for a client that goes must not mistake the deadline for
		// that.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

func (b *watched) Close() error { return b.body.Close() }

// logRequest writes one line. It has no query and no header, where secrets are.
func logRequest(log *slog.Logger, r *http.Request, n *note, c *counted, took time.Duration) {
	path := r.URL.Path
	if n.path != "" {
		path = n.path
	}
	log.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method), slog.String("path", path), slog.Int("status", c.status), slog.Int64("bytes", c.bytes),
		slog.Duration("took", took.Round(time.Microsecond)), slog.String("service", n.service), slog.String("user", n.user), slog.String("client", client(r)))
}
