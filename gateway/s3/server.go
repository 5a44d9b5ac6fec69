package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// ServerOptions are the options of [NewServer]. Zero fields have defaults.
type ServerOptions struct {
	// TLS turns TLS on, and HTTP/2 with it; it must hold a certificate.
	TLS *tls.Config
	// ReadHeaderTimeout bounds the time to read a request's header; 10 s.
	ReadHeaderTimeout time.Duration
	// IdleTimeout closes connections between requests; two minutes.
	IdleTimeout time.Duration
	// MaxHeaderBytes bounds a request's header; 32 KiB.
	MaxHeaderBytes int
	// ShutdownTimeout bounds the wait for requests in progress when Serve's
	// context ends; 30 s.
	ShutdownTimeout time.Duration
	// Logger gets what net/http reports of connections. Nil discards.
	Logger *slog.Logger
}

// Server runs an [http.Handler], such as a [Handler], on a listener. It sets
// no time limit on a whole request, because bodies can be long: a Handler
// itself ends those that stall.
type Server struct {
	http     *http.Server
	tls      bool
	shutdown time.Duration
}

// NewServer returns a Server of handler.
func NewServer(handler http.Handler, options ServerOptions) *Server {
	defaultTo(&options.ReadHeaderTimeout, 10*time.Second)
	defaultTo(&options.IdleTimeout, 2*time.Minute)
	defaultTo(&options.MaxHeaderBytes, 32<<10)
	defaultTo(&options.ShutdownTimeout, 30*time.Second)
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{
		http: &http.Server{
			Handler:           handler,
			TLSConfig:         options.TLS.Clone(),
			ReadHeaderTimeout: options.ReadHeaderTimeout,
			IdleTimeout:       options.IdleTimeout,
			MaxHeaderBytes:    options.MaxHeaderBytes,
			ErrorLog:          slog.NewLogLogger(options.Logger.Handler(), slog.LevelWarn),
		},
		tls:      options.TLS != nil,
		shutdown: options.ShutdownTimeout,
	}
}

// ListenAndServe listens on a TCP address, such as "127.0.0.1:9000", and serves
// as [Server.Serve] does.
func (s *Server) ListenAndServe(ctx context.Context, addr string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("s3: listening: %w", err)
	}
	return s.Serve(ctx, listener)
}

// Serve serves until ctx ends, then takes no more requests, waits for those in
// progress and returns nil. It returns an error when serving fails, or when
// requests are still not done after the shutdown time-out: their connections
// are closed then. It closes the listener. A Server serves once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	served := make(chan error, 1)
	go func() {
		if s.tls {
			served <- s.http.ServeTLS(listener, "", "")
		} else {
			served <- s.http.Serve(listener)
		}
	}()
	select {
	case err := <-served:
		return fmt.Errorf("s3: serving on %v: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdown)
	defer cancel()
	err := s.http.Shutdown(wait)
	if err != nil {
		err = fmt.Errorf("s3: requests still in progress after %v: %w", s.shutdown, errors.Join(err, s.http.Close()))
	}
	<-served //nolint:errcheck // http.ErrServerClosed
	return err
}
