package server

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/web"
	"github.com/stardustdb/stardust/gateway/webdav"
)

// Options are the options of [NewSite]. The zero value serves everything to
// everybody who reaches it.
type Options struct {
	// Name is the database's name, where a server has several: its paths begin
	// with /NAME/ then.
	Name string
	// Accounts are those who may use it; nil lets everybody in.
	Accounts *accounts.File
	// ReadOnly refuses every change.
	ReadOnly bool
	// WithoutAPI, WithoutPage and WithoutWebDAV leave out a protocol. The page
	// needs the API.
	WithoutAPI, WithoutPage, WithoutWebDAV bool
	// S3 gets the requests that S3 clients signed, which it checks itself. Nil
	// serves none. It needs a site without a name, since its paths begin with
	// buckets.
	S3 http.Handler
	// MaxUpload bounds one body, in bytes; zero sets no bound.
	MaxUpload int64
	// Uploads is a directory for unfinished uploads, which KeepUploads ends when no
	// more bytes come for so long; see [api.Options].
	Uploads     string
	KeepUploads time.Duration
	// Secure says that clients come by TLS, so that cookies are for it alone.
	Secure bool
	// Closing ends streams of changes when it is closed.
	Closing <-chan struct{}
	// Logger gets errors that come too late for an answer; nil means none.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Site serves one database. It may be used concurrently. The database belongs to
// the caller.
type Site struct {
	options  Options
	prefix   string // of paths, without a slash at the end
	api      http.Handler
	page     http.Handler
	dav      http.Handler
	logins   *accounts.Logins
	sessions *sessions
	failures *failures
	origin   *http.CrossOriginProtection
}

// NewSite returns the site of a database.
func NewSite(db *stardust.DB, options *Options) *Site {
	s := &Site{sessions: newSessions(), failures: newFailures(), origin: http.NewCrossOriginProtection()}
	if options != nil {
		s.options = *options
	}
	if s.options.Now == nil {
		s.options.Now = time.Now //nolint:forbidigo // the default clock
	}
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.DiscardHandler)
	}
	if s.options.Name != "" {
		s.prefix = "/" + s.options.Name
	}
	if s.options.Accounts != nil {
		s.logins = accounts.NewLogins(s.options.Accounts)
	}
	if !s.options.WithoutAPI {
		s.api = api.New(db, &api.Options{
			MaxUpload: s.options.MaxUpload, Uploads: s.options.Uploads, KeepUploads: s.options.KeepUploads,
			Closing: s.options.Closing, Logger: s.options.Logger,
		})
	}
	if !s.options.WithoutAPI && !s.options.WithoutPage {
		s.page = web.Handler()
	}
	if !s.options.WithoutWebDAV {
		s.dav = webdav.New(db, &webdav.Options{Prefix: s.prefix + davPath, MaxUpload: s.options.MaxUpload, Logger: s.options.Logger})
	}
	return s
}

// Where protocols begin, beneath the site's prefix.
const (
	davPath     = "/dav"
	linkPath    = "/s/"
	sessionPath = "/v1/session"
	sharesPath  = "/v1/shares"
)

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	note := noteOf(r.Context())
	path, ok := strings.CutPrefix(r.URL.Path, s.prefix)
	if !ok || path == "" && s.prefix != "" {
		http.Redirect(w, r, s.prefix+"/", http.StatusTemporaryRedirect)
		return
	}
	// What is signed needs no login of the browser's, so that a page of another
	// site may send it if the bucket's CORS configuration lets it.
	if s.options.S3 != nil && (signed(r) || asksToSign(r)) {
		note.service = "s3"
		s.options.S3.ServeHTTP(w, r)
		return
	}
	// A page of another site must not change anything through the browser of
	// somebody who is logged in here.
	if err := s.origin.Check(r); err != nil {
		s.refuse(w, r, http.StatusForbidden, "cross_origin", "a page of another site may not send this request")
		return
	}
	if rest, ok := strings.CutPrefix(path, linkPath); ok {
		s.serveLink(w, r, rest)
		return
	}
	if path == sessionPath && s.api != nil {
		note.service = "session"
		s.serveSession(w, r)
		return
	}
	if s.page != nil && isPage(path) {
		note.service = "page" // its files are no secret: what it shows comes through the API
		s.serve(s.page, w, r, path, nil)
		return
	}
	g := s.authenticate(w, r)
	if g == nil {
		return
	}
	note.user = g.Name
	s.route(w, r, path, g)
}

// isPage reports whether a path is one of the page's files.
func isPage(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/static/") || path == "/favicon.ico"
}

func (s *Site) route(w http.ResponseWriter, r *http.Request, path string, g *grant.Grant) {
	note := noteOf(r.Context())
	switch {
	case path == sharesPath && s.api != nil:
		note.service = "api"
		s.share(w, r, g)
	case strings.HasPrefix(path, "/v1/") && s.api != nil:
		note.service = "api"
		s.serve(s.api, w, r, path, g)
	case s.dav != nil && (path == davPath || strings.HasPrefix(path, davPath+"/")):
		note.service = "webdav"
		s.dav.ServeHTTP(w, r.WithContext(s.context(r.Context(), g)))
	default:
		s.refuse(w, r, http.StatusNotFound, "", "there is nothing at this path")
	}
}

// context returns that of a request with its grant.
func (s *Site) context(ctx context.Context, g *grant.Grant) context.Context {
	if s.options.ReadOnly && g.Write {
		reading := *g
		reading.Write = false
		g = &reading
	}
	return grant.With(ctx, g)
}

// serve hands a request to a handler that knows no prefix.
func (s *Site) serve(h http.Handler, w http.ResponseWriter, r *http.Request, path string, g *grant.Grant) {
	ctx := r.Context()
	if g != nil {
		ctx = s.context(ctx, g)
	}
	prefix := strings.TrimSuffix(r.URL.Path, path)
	http.StripPrefix(prefix, h).ServeHTTP(w, r.WithContext(ctx))
}

// signed reports whether an S3 client signed a request.
func signed(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256") || r.URL.Query().Has("X-Amz-Signature")
}

// asksToSign reports whether a browser asks whether a page of another site may send
// a signed request.
func asksToSign(r *http.Request) bool {
	return r.Method == http.MethodOptions && strings.Contains(strings.ToLower(r.Header.Get("Access-Control-Request-Headers")), "x-amz-")
}
