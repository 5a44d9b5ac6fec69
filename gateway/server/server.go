package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// ServerOptions are the options of [NewServer]. Zero fields have defaults.
type ServerOptions struct { //nolint:revive // Options are the site's
	// TLS turns TLS on, and HTTP/2 with it; it must hold a certificate.
	TLS *tls.Config
	// Hosts are names that requests may be sent to besides addresses and
	// localhost. They matter to a server without accounts, which no page of a
	// foreign name that resolves to this machine may reach.
	Hosts []string
	// MaxConnections bounds the connections of one client's address; 256.
	MaxConnections int
	// MaxRequests bounds the requests under way; 1024.
	MaxRequests int
	// Stall ends a request whose client sends or takes nothing for so long; a
	// minute.
	Stall time.Duration
	// HeaderTimeout ends a connection whose request's header does not come whole in
	// so long; 10 s.
	HeaderTimeout time.Duration
	// ShutdownTimeout bounds the wait for requests under way at the end; 30 s.
	ShutdownTimeout time.Duration
	// Logger gets a line for every request and what goes wrong; nil means none.
	Logger *slog.Logger
}

// Server serves sites. It serves once.
type Server struct {
	sites    []*Site
	options  ServerOptions
	metrics  *metrics
	requests chan struct{}
	open     bool // without accounts
	closing  atomic.Bool
}

// NewServer returns a server of sites. Several have different names.
func NewServer(sites []*Site, options *ServerOptions) *Server {
	s := &Server{sites: sites, metrics: newMetrics()}
	if options != nil {
		s.options = *options
	}
	o := &s.options
	if o.MaxConnections <= 0 {
		o.MaxConnections = 256
	}
	if o.MaxRequests <= 0 {
		o.MaxRequests = 1024
	}
	if o.Stall <= 0 {
		o.Stall = time.Minute
	}
	if o.HeaderTimeout <= 0 {
		o.HeaderTimeout = 10 * time.Second
	}
	if o.ShutdownTimeout <= 0 {
		o.ShutdownTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s.requests = make(chan struct{}, o.MaxRequests)
	s.open = slices.ContainsFunc(sites, func(site *Site) bool { return site.options.Accounts == nil })
	return s
}

// Serve serves on listeners until ctx ends; then it takes no more requests, waits
// for those under way, and returns nil, or an error when some did not end in
// time. It closes the listeners.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	server := &http.Server{
		Handler: s, TLSConfig: s.options.TLS.Clone(),
		ReadHeaderTimeout: s.options.HeaderTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelWarn),
	}
	serving, ended := errgroup.WithContext(ctx)
	for _, listener := range listeners {
		bounded := newDoor(listener, s.options.MaxConnections)
		serving.Go(func() error {
			err := s.serve(server, bounded)
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return fmt.Errorf("serving on %v: %w", listener.Addr(), err)
		})
	}
	serving.Go(func() error {
		<-ended.Done()
		s.closing.Store(true)
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.ShutdownTimeout)
		defer cancel()
		if err := server.Shutdown(wait); err != nil {
			return fmt.Errorf("requests are still under way after %v: %w", s.options.ShutdownTimeout, errors.Join(err, server.Close()))
		}
		return nil
	})
	return serving.Wait()
}

func (s *Server) serve(server *http.Server, listener net.Listener) error {
	// A Unix socket never leaves the machine.
	if s.options.TLS != nil && listener.Addr().Network() == "tcp" {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now() //nolint:forbidigo // measures, and the network knows no other clock
	n := &note{service: "server"}
	control := http.NewResponseController(w)
	c := &counted{ResponseWriter: w, control: control, stall: s.options.Stall}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &watched{body: r.Body, control: control, stall: s.options.Stall}
	}
	// A connection keeps the deadline of its last request.
	_ = control.SetWriteDeadline(start.Add(s.options.Stall))
	r = r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
	s.metrics.begin()
	defer func() {
		_ = control.SetWriteDeadline(time.Now().Add(s.options.Stall)) //nolint:forbidigo // the network knows no other clock
		took := time.Since(start)
		s.metrics.end(n.service, c, took)
		logRequest(s.options.Logger, r, n, c, took)
	}()
	select {
	case s.requests <- struct{}{}:
		defer func() { <-s.requests }()
	default:
		c.Header().Set("Retry-After", "1")
		s.sites[0].refuse(c, r, http.StatusServiceUnavailable, "busy", "too many requests are under way: try again in a second")
		return
	}
	if s.open && !s.knows(r) {
		s.sites[0].refuse(c, r, http.StatusForbidden, "host", "requests for the name "+r.Host+" are refused: add it with --host if it is this server's")
		return
	}
	if s.options.TLS != nil {
		c.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	s.route(c, r, n)
}

// knows reports whether a request names this server by a name that no stranger
// can point at it.
func (s *Server) knows(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return net.ParseIP(host) != nil || host == "localhost" || slices.Contains(s.options.Hosts, host) ||
		local != nil && local.Network() == "unix"
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, n *note) {
	switch r.URL.Path {
	case "/healthz":
		plain(w, http.StatusOK, "ok")
		return
	case "/readyz":
		if s.closing.Load() {
			plain(w, http.StatusServiceUnavailable, "stopping")
		} else {
			plain(w, http.StatusOK, "ready")
		}
		return
	case "/metrics":
		if g := s.sites[0].authenticate(w, r); g != nil {
			n.user = g.Name
			if g.Bounded() {
				s.sites[0].refuse(w, r, http.StatusForbidden, "bounded", "this user or token sees a part of the database only")
				return
			}
			s.metrics.handler.ServeHTTP(w, r)
		}
		return
	}
	if site := s.site(r.URL.Path); site != nil {
		site.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/" {
		s.index(w)
		return
	}
	s.sites[0].refuse(w, r, http.StatusNotFound, "", "there is no database of this name")
}

// site returns the site that a path is of.
func (s *Server) site(path string) *Site {
	for _, site := range s.sites {
		if site.prefix == "" || path == site.prefix || strings.HasPrefix(path, site.prefix+"/") {
			return site
		}
	}
	return nil
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // the client has gone, then
}
