package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/committed"
	"github.com/stardustdb/stardust/gateway/internal/patience"
	"github.com/stardustdb/stardust/gateway/internal/staging"
)

// defaultMaxDocument bounds a request's document, in bytes.
const defaultMaxDocument = 16 << 20

// The policies of what is sent: browsers run none of it, and only this server's
// own pages embed it. A sandbox would keep a browser from showing a PDF, since
// the viewer is not part of this server's origin.
const (
	contentPolicy  = "default-src 'none'; frame-ancestors 'self'; sandbox"
	documentPolicy = "default-src 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'"
)

// Options are the options of [New]. Nil means the zero value.
type Options struct {
	// MaxDocument bounds the JSON or DUST of a request, in bytes; zero means
	// 16 MiB.
	MaxDocument int64
	// MaxUpload bounds the body of one payload or file, in bytes; zero sets no
	// bound.
	MaxUpload int64
	// Uploads is a directory for the bytes of uploads that take several requests,
	// until they are whole, such as one beside the database. Empty means that there
	// are no such uploads.
	Uploads string
	// KeepUploads is how long an unfinished upload waits for more bytes; zero means
	// 24 hours.
	KeepUploads time.Duration
	// Closing, once closed, ends the streams of changes, which would otherwise
	// keep a server from shutting down. Nil never does.
	Closing <-chan struct{}
	// Logger gets errors that come too late for an answer; nil means none.
	Logger *slog.Logger
}

// Handler serves a database. It may be used concurrently. It ends with the
// requests that it serves; the database belongs to the caller, who closes it
// after the server.
type Handler struct {
	db      *stardust.DB
	options Options
	mux     *http.ServeMux
	api     huma.API
	times   committed.Times
	area    *staging.Area // nil when there is none

	lanes    patience.Lanes
	outlines outlines
	growth   growth
}

// New returns the handler of a database, with paths that begin with /v1/.
func New(db *stardust.DB, options *Options) *Handler {
	h := &Handler{db: db, mux: http.NewServeMux()}
	if options != nil {
		h.options = *options
	}
	if h.options.MaxDocument <= 0 {
		h.options.MaxDocument = defaultMaxDocument
	}
	if h.options.Logger == nil {
		h.options.Logger = slog.New(slog.DiscardHandler)
	}
	config := huma.DefaultConfig("Stardust", "1")
	config.Info.Description = "Files for programs: immutable payloads by digest, a tree of files and directories, and every earlier version of it."
	config.OpenAPIPath = "/v1/openapi"
	config.DocsPath, config.SchemasPath = "", "" // their pages load scripts from elsewhere
	config.CreateHooks = nil                     // no $schema member in answers
	config.Transformers = []huma.Transformer{problemTransformer}
	h.api = humago.New(h.mux, config)
	h.addCalls()
	h.addPayloads()
	h.addFiles()
	h.addUploads()
	h.addDirectories()
	h.addSeveral()
	h.addOutlines()
	h.addLargest()
	h.addGrowth()
	h.addHistory()
	h.addChanges()
	h.addSearch()
	h.addInfo()
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, &stardust.Error{Status: stardust.StatusNotFound, Op: "route", Message: "there is nothing at " + r.URL.Path + "; see /v1/openapi.json"})
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Anybody may have written what is stored: a browser must neither run it as a
	// page's script nor guess its type.
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", contentPolicy)
	w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if h.area != nil {
		h.area.Sweep() // also when nobody uploads any more
	}
	h.mux.ServeHTTP(w, r)
}

// OpenAPI returns the description of the interface, in JSON.
func (h *Handler) OpenAPI() ([]byte, error) { return h.api.OpenAPI().MarshalJSON() }

// Document returns the same as a value.
func (h *Handler) Document() *huma.OpenAPI { return h.api.OpenAPI() }
