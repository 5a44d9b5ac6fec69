package server

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// refuse answers with a problem document.
func (s *Site) refuse(w http.ResponseWriter, _ *http.Request, status int, code, message string) {
	word := stardust.StatusUnavailable
	switch status {
	case http.StatusNotFound:
		word = stardust.StatusNotFound
	case http.StatusBadRequest, http.StatusMethodNotAllowed:
		word = stardust.StatusInvalidArgument
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{ // the client has gone, then
		"status": word.String(), "code": code, "message": message,
		"type": "about:blank", "title": http.StatusText(status), "detail": message,
	})
}

// authenticate returns what a request may do. It answers and returns nil when
// the sender may not use the site.
func (s *Site) authenticate(w http.ResponseWriter, r *http.Request) *grant.Grant {
	if s.logins == nil {
		return &grant.Grant{Write: true}
	}
	g, tried := s.credentials(w, r)
	if g != nil || tried && w.Header().Get("Retry-After") != "" {
		return g
	}
	// The page asks for the password itself; everything else gets the usual
	// challenge.
	if r.Header.Get("Sec-Fetch-Dest") != "empty" || strings.HasPrefix(r.URL.Path, s.prefix+davPath) {
		w.Header().Set("WWW-Authenticate", `Basic realm="Stardust", charset="UTF-8"`)
	}
	message := "log in, or send a token: Authorization: Bearer TOKEN"
	if tried {
		message = "there is no such user with this password, or no such token"
	}
	s.refuse(w, r, http.StatusUnauthorized, "unauthenticated", message)
	return nil
}

// credentials returns what a request's own words grant, and whether it has any.
func (s *Site) credentials(w http.ResponseWriter, r *http.Request) (g *grant.Grant, tried bool) {
	now := s.options.Now()
	header := r.Header.Get("Authorization")
	if header == "" {
		if name, ok := s.sessions.find(r, now); ok {
			return s.logins.Grant(name, now), true
		}
		return nil, false
	}
	from := client(r)
	if wait := s.failures.wait(from, now); wait > 0 {
		w.Header().Set("Retry-After", "60")
		s.refuse(w, r, http.StatusTooManyRequests, "too_many_failures", "too many wrong passwords or tokens came from this address: try again in a minute")
		return nil, true
	}
	if secret, ok := strings.CutPrefix(header, "Bearer "); ok {
		g = s.options.Accounts.CheckToken(secret, now)
	} else if name, password, ok := r.BasicAuth(); ok {
		g = s.login(r, name, password, now)
	}
	if g == nil {
		s.failures.add(from, now)
	}
	return g, true
}

// login checks a password; WebDAV clients, which know only passwords, may send
// a token as one.
func (s *Site) login(r *http.Request, name, password string, now time.Time) *grant.Grant {
	if g := s.options.Accounts.CheckToken(password, now); g != nil && g.Name == name {
		return g
	}
	g, err := s.logins.Check(r.Context(), name, password, now)
	if err != nil && r.Context().Err() == nil {
		s.options.Logger.Error("a password cannot be checked", "user", name, "error", err)
	}
	return g
}

// client returns the address that a request comes from.
func client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// How many wrong guesses an address has in a minute.
const (
	maxFailures  = 20
	failureSpan  = time.Minute
	maxAddresses = 10_000
)

// failures counts wrong passwords and tokens by address.
type failures struct {
	mu    sync.Mutex
	since time.Time
	count map[string]int
}

func newFailures() *failures { return &failures{count: map[string]int{}} }

func (f *failures) wait(from string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.since) > failureSpan {
		f.since = now
		clear(f.count)
	}
	if f.count[from] < maxFailures && len(f.count) < maxAddresses {
		return 0
	}
	return failureSpan
}

func (f *failures) add(from string, _ time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[from]++
}
