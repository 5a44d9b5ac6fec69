package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/grant"
)

// The life of a link.
const (
	defaultLink = 7 * 24 * time.Hour
	maxLinkLife = 365 * 24 * time.Hour
)

// serveLink serves what a link shows: the page and the interface, for reading.
func (s *Site) serveLink(w http.ResponseWriter, r *http.Request, rest string) {
	note := noteOf(r.Context())
	note.service, note.user = "link", "link"
	text, path, slash := strings.Cut(rest, "/")
	note.path = s.prefix + linkPath + "…/" + path
	if s.options.Accounts == nil {
		s.refuse(w, r, http.StatusNotFound, "", "this server has no links")
		return
	}
	g, err := s.options.Accounts.CheckLink(text, s.options.Name, s.options.Now())
	if err != nil {
		s.refuse(w, r, http.StatusNotFound, "", "this link is wrong or has expired")
		return
	}
	if !slash {
		http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
		return
	}
	w.Header().Set("Referrer-Policy", "no-referrer") // the address is the secret
	path = "/" + path
	switch {
	case strings.HasPrefix(path, "/v1/") && s.api != nil && path != sharesPath && path != sessionPath:
		s.serve(s.api, w, r, path, g)
	case s.page != nil && isPage(path):
		s.serve(s.page, w, r, path, g)
	default:
		s.refuse(w, r, http.StatusNotFound, "", "there is nothing at this path")
	}
}

// share makes a link to what its maker may read.
func (s *Site) share(w http.ResponseWriter, r *http.Request, g *grant.Grant) {
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		s.refuse(w, r, http.StatusMethodNotAllowed, "", "POST makes a link")
		return
	case s.options.Accounts == nil:
		s.refuse(w, r, http.StatusForbidden, "", "links need a file of accounts, which has the key that signs them: start the server with --users")
		return
	}
	var in struct {
		Path    string
		At      int64
		Seconds int64
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxLogin)).Decode(&in); err != nil || in.At < 0 || in.Seconds < 0 {
		s.refuse(w, r, http.StatusBadRequest, "", `send {"path": PATH, "at": REVISION, "seconds": LIFE}`)
		return
	}
	life := time.Duration(min(in.Seconds, int64(maxLinkLife/time.Second))) * time.Second
	if life == 0 {
		life = defaultLink
	}
	expires := s.options.Now().Add(life).UTC().Truncate(time.Second)
	text, err := s.options.Accounts.Sign(&accounts.Link{Root: g.Path(strings.Trim(in.Path, "/")), At: in.At, Database: s.options.Name, Expires: expires})
	if err != nil {
		s.options.Logger.Error("a link cannot be signed", "error", err)
		s.refuse(w, r, http.StatusInternalServerError, "", "the link cannot be signed; the server's log says why")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"path": s.prefix + linkPath + text + "/", "expires": expires}) // the client has gone, then
}
