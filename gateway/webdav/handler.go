// Package webdav serves a database's tree over WebDAV, so that file managers and
// other programs mount it.
//
// The protocol is golang.org/x/net/webdav's; what is here is the tree behind it. A
// file that is put appears whole or not at all, a copy stores no bytes again, and
// a move over a file is one commit. Names are told apart by case, so that a rename
// that changes only that is one like any other.
package webdav

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/webdav"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/internal/committed"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

// maxBody bounds the XML of a request, in bytes.
const maxBody = 1 << 20

// Options are the options of [New]. Nil means the zero value.
type Options struct {
	// Prefix is what paths begin with, such as /dav.
	Prefix string
	// MaxUpload bounds a file, in bytes; zero sets no bound.
	MaxUpload int64
	// Logger gets the errors behind answers; nil means none.
	Logger *slog.Logger
}

// Handler serves a database. It may be used concurrently. What a request may do is
// in its context; see [grant.From]. Locks last as long as the handler.
type Handler struct {
	db      *stardust.DB
	options Options
	locks   webdav.LockSystem
	times   committed.Times
	lanes   patience.Lanes
}

// New returns the handler of a database, which belongs to the caller.
func New(db *stardust.DB, options *Options) *Handler {
	h := &Handler{db: db, locks: webdav.NewMemLS()}
	if options != nil {
		h.options = *options
	}
	if h.options.Logger == nil {
		h.options.Logger = slog.New(slog.DiscardHandler)
	}
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Anybody may have written what is stored: no browser may run it as a page of
	// this server.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	g := grant.From(r.Context())
	switch {
	case !reads(r.Method) && !g.Write:
		http.Error(w, "this user, token or link may read only", http.StatusForbidden)
		return
	case r.Method != http.MethodPut:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	case h.options.MaxUpload > 0:
		if r.ContentLength > h.options.MaxUpload {
			http.Error(w, "the file is larger than is taken", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, h.options.MaxUpload)
	}
	files, err := h.files(r, g)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	files.interrupt = patience.Interrupt(w)
	if files.modified, err = modified(r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !files.modified.IsZero() && r.Method == http.MethodPut {
		w.Header().Set("X-OC-Mtime", "accepted")
	}
	if r.Method == "MOVE" && r.Header.Get("Overwrite") == "" {
		r.Header.Set("Overwrite", "T") // what RFC 4918 says of a request without it
	}
	answer := &answer{ResponseWriter: w, files: files}
	(&webdav.Handler{
		Prefix: h.options.Prefix, FileSystem: files, LockSystem: &rootedLocks{h.locks, g.Path("")},
		Logger: func(r *http.Request, err error) {
			if err != nil {
				h.options.Logger.Debug("webdav", "method", r.Method, "path", r.URL.Path, "error", err)
			}
		},
	}).ServeHTTP(answer, r)
}

// reads reports whether a method changes nothing.
func reads(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND":
		return true
	}
	return false
}

// files returns the tree that a request works on.
func (h *Handler) files(r *http.Request, g *grant.Grant) (*files, error) {
	f := &files{handler: h, grant: g, method: r.Method, ctx: r.Context(), tree: h.db.Tree().WithContext(r.Context())}
	if g.At != 0 {
		past, err := h.db.AsOf(g.At)
		if err != nil {
			return nil, err
		}
		f.tree = past.Tree().WithContext(r.Context())
	}
	return f, nil
}

// modified returns the time that a client gives a file, zero when it gives none.
func modified(r *http.Request) (time.Time, error) {
	text := r.Header.Get("X-OC-Mtime")
	if text == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || seconds < 0 || seconds > 253402300799 { // the end of the year 9999
		return time.Time{}, &stardust.Error{Status: stardust.StatusInvalidArgument, Op: "webdav", Message: "X-OC-Mtime: " + strconv.Quote(text) + " is no time in seconds"}
	}
	return time.Unix(0, int64(seconds*1e9)), nil
}

// answer gives an error of the tree the status that it has in HTTP: the protocol's
// library has one for all.
type answer struct {
	http.ResponseWriter

	files *files
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(status int) {
	if failed := a.files.failed; failed != 0 && status == http.StatusMethodNotAllowed {
		status = failed
	}
	a.ResponseWriter.WriteHeader(status)
}

// rootedLocks are locks by paths of the whole tree, for a request whose paths
// begin at a directory of it.
type rootedLocks struct {
	webdav.LockSystem

	root string
}

func (l *rootedLocks) path(name string) string {
	if l.root == "" || name == "" {
		return name
	}
	if name == "/" {
		return "/" + l.root
	}
	return "/" + l.root + name
}

// Confirm implements webdav.LockSystem.
func (l *rootedLocks) Confirm(now time.Time, name0, name1 string, conditions ...webdav.Condition) (func(), error) {
	return l.LockSystem.Confirm(now, l.path(name0), l.path(name1), conditions...)
}

// Create implements webdav.LockSystem.
func (l *rootedLocks) Create(now time.Time, details webdav.LockDetails) (string, error) {
	details.Root = l.path(details.Root)
	return l.LockSystem.Create(now, details)
}

// Refresh implements webdav.LockSystem.
func (l *rootedLocks) Refresh(now time.Time, token string, duration time.Duration) (webdav.LockDetails, error) {
	details, err := l.LockSystem.Refresh(now, token, duration)
	if l.root != "" && err == nil {
		details.Root = details.Root[min(len(details.Root), len(l.root)+1):]
		if details.Root == "" {
			details.Root = "/"
		}
	}
	return details, err
}

var _ webdav.FileSystem = (*files)(nil)
