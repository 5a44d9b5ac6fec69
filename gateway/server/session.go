package server

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

const (
	cookieName  = "stardust_session"
	sessionLife = 12 * time.Hour
	maxSessions = 10_000
	maxLogin    = 4 << 10 // bytes of a login's document
)

// session is somebody who is logged in.
type session struct {
	user    string
	expires time.Time
}

// sessions are those who are logged in by the page. They end with the process.
type sessions struct {
	mu   sync.Mutex
	byID map[string]session
}

func newSessions() *sessions { return &sessions{byID: map[string]session{}} }

func (s *sessions) start(user string, now time.Time) string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxSessions {
		for old, one := range s.byID {
			if now.After(one.expires) || len(s.byID) >= maxSessions {
				delete(s.byID, old)
			}
		}
	}
	s.byID[id] = session{user, now.Add(sessionLife)}
	return id
}

func (s *sessions) find(r *http.Request, now time.Time) (user string, ok bool) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.byID[cookie.Value]
	if !ok || now.After(one.expires) {
		delete(s.byID, cookie.Value)
		return "", false
	}
	return one.user, true
}

func (s *sessions) end(r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		s.mu.Lock()
		delete(s.byID, cookie.Value)
		s.mu.Unlock()
	}
}

// serveSession logs in and out.
func (s *Site) serveSession(w http.ResponseWriter, r *http.Request) {
	cookie := &http.Cookie{
		Name: cookieName, Path: s.prefix + "/", HttpOnly: true, Secure: s.options.Secure,
		SameSite: http.SameSiteStrictMode, MaxAge: -1,
	}
	switch {
	case s.logins == nil:
		s.refuse(w, r, http.StatusNotFound, "", "this server has no users")
	case r.Method == http.MethodDelete:
		s.sessions.end(r)
		http.SetCookie(w, cookie)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost:
		user, ok := s.logIn(w, r)
		if !ok {
			return
		}
		cookie.Value, cookie.MaxAge = s.sessions.start(user, s.options.Now()), int(sessionLife/time.Second)
		http.SetCookie(w, cookie)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		s.refuse(w, r, http.StatusMethodNotAllowed, "", "POST logs in, DELETE out")
	}
}

func (s *Site) logIn(w http.ResponseWriter, r *http.Request) (user string, ok bool) {
	var in struct{ User, Password string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLogin)).Decode(&in); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "", `send {"user": NAME, "password": PASSWORD}`)
		return "", false
	}
	now, from := s.options.Now(), client(r)
	if s.failures.wait(from, now) > 0 {
		w.Header().Set("Retry-After", "60")
		s.refuse(w, r, http.StatusTooManyRequests, "too_many_failures", "too many wrong passwords came from this address: try again in a minute")
		return "", false
	}
	g := s.login(r, in.User, in.Password, now)
	if g == nil || s.logins.Grant(in.User, now) == nil {
		s.failures.add(from, now)
		s.refuse(w, r, http.StatusUnauthorized, "unauthenticated", "there is no such user with this password")
		return "", false
	}
	noteOf(r.Context()).user = in.User
	return in.User, true
}
