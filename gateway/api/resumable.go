package api

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	"golang.org/x/exp/slog" // which tusd asks for

	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/internal/staging"
)

// uploadsPath is where uploads that take several requests are begun.
const uploadsPath = "/v1/uploads"

// tusGrace is how long the protocol's handler goes on after its client has gone.
// What was sent is kept without it, since that takes no heed of the client.
const tusGrace = 100 * time.Millisecond

// Unfinished is an upload that waits for more bytes.
type Unfinished struct {
	ID       string            `json:"id" doc:"Its address is /v1/uploads/ID."`
	Path     string            `json:"path" doc:"The file that it is to be."`
	Size     int64             `json:"size" doc:"Of the whole, in bytes."`
	Offset   int64             `json:"offset" doc:"How many bytes are safe."`
	Metadata map[string]string `json:"metadata,omitempty" doc:"What the client said of it."`
	Active   bool              `json:"active" doc:"Bytes are arriving now."`
	Expires  time.Time         `json:"expires" doc:"When it ends unless more bytes come."`
}

// addUploads adds uploads that take several requests, when there is a place for
// them.
func (h *Handler) addUploads() {
	if h.options.Uploads == "" {
		return
	}
	area, err := staging.Open(h.options.Uploads, &staging.Options{Keep: h.options.KeepUploads, Logger: h.options.Logger})
	if err == nil {
		err = h.addResumable(area)
	}
	if err != nil {
		h.options.Logger.Error("uploads cannot be resumed", "directory", h.options.Uploads, "error", err)
		return
	}
	h.area = area
}

// addResumable speaks the tus protocol 1.0.
func (h *Handler) addResumable(area *staging.Area) error {
	store := &tusStore{h: h, area: area}
	composer := handler.NewStoreComposer()
	composer.UseCore(store)
	composer.UseTerminater(store)
	composer.UseLocker(memorylocker.New())
	maxSize := h.options.MaxUpload
	if maxSize <= 0 {
		maxSize = math.MaxInt64 / 2 // none that adding to an offset could overflow
	}
	protocol, err := handler.NewUnroutedHandler(handler.Config{
		StoreComposer: composer, BasePath: uploadsPath + "/", MaxSize: maxSize,
		DisableDownload: true, DisableConcatenation: true, Cors: &handler.CorsConfig{Disable: true},
		GracefulRequestCompletionTimeout: tusGrace,
		Logger:                           slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.Level(math.MaxInt32)})),
		PreUploadCreateCallback:          store.accept,
		PreFinishResponseCallback:        store.tell,
	})
	if err != nil {
		return err
	}
	tus := func(serve http.HandlerFunc) http.HandlerFunc {
		inner := protocol.Middleware(serve)
		one := http.StripPrefix(uploadsPath+"/", inner)
		return func(w http.ResponseWriter, r *http.Request) {
			answer := &tusAnswer{ResponseWriter: w, r: r, area: area}
			defer answer.end()
			if r.PathValue("id") != "" {
				one.ServeHTTP(answer, r) // the protocol's handler takes the whole path for the id
				return
			}
			inner.ServeHTTP(answer, r)
		}
	}
	h.describeResumable(tus(protocol.PostFile), tus(protocol.HeadFile), tus(protocol.PatchFile), tus(protocol.DelFile))
	h.mux.HandleFunc("OPTIONS "+uploadsPath, tus(func(http.ResponseWriter, *http.Request) {}))
	h.describe(huma.Operation{
		OperationID: "uploads-list", Method: http.MethodGet, Path: uploadsPath, Tags: []string{"uploads"},
		Summary:   "List uploads that wait for more bytes.",
		Responses: h.responses(h.schema([]Unfinished{}), "200"),
	}, func(w http.ResponseWriter, r *http.Request) {
		if err := mayWrite(r.Context()); err != nil {
			writeProblem(w, r, err)
			return
		}
		writeValue(w, r, http.StatusOK, store.list(grant.From(r.Context())))
	})
	return nil
}

func (h *Handler) describeResumable(create, offset, add, cancel http.HandlerFunc) {
	id := &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}
	version := &huma.Param{Name: "Tus-Resumable", In: "header", Required: true, Schema: &huma.Schema{Type: "string", Enum: []any{tusVersion}}}
	require := func(p *huma.Param) *huma.Param { p.Required = true; return p }
	chunk := &huma.RequestBody{Content: map[string]*huma.MediaType{tusType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}
	h.describe(huma.Operation{
		OperationID: "upload-create", Method: http.MethodPost, Path: uploadsPath, Tags: []string{"uploads"},
		Summary: "Begin an upload that can be resumed, by the tus protocol 1.0.",
		Description: "Upload-Length is the file's size, and Upload-Metadata has its path in the tree: \"path BASE64\", or filename instead. If-Match, If-None-Match " +
			"and Content-Digest hold when the upload ends, and mean what they do in file-write. The answer's Location is the upload. Its bytes wait beside the database; " +
			"when the last has come the file is written in one commit, and until then that byte does not count.",
		Parameters: []*huma.Param{
			version, require(headerParam("Upload-Length")), require(headerParam("Upload-Metadata")),
			headerParam("If-Match"), headerParam("If-None-Match"), headerParam("Content-Digest"),
		},
		RequestBody: chunk,
		Responses:   h.responses(nil, "201"),
	}, create)
	h.describe(huma.Operation{
		OperationID: "upload-offset", Method: http.MethodHead, Path: uploadsPath + "/{id}", Tags: []string{"uploads"},
		Summary:    "Say where an upload goes on: the header Upload-Offset.",
		Parameters: []*huma.Param{version, id},
		Responses:  h.responses(nil, "200"),
	}, offset)
	h.describe(huma.Operation{
		OperationID: "upload-append", Method: http.MethodPatch, Path: uploadsPath + "/{id}", Tags: []string{"uploads"},
		Summary:     "Add bytes to an upload.",
		Description: "Bytes that arrive count even when the connection breaks. With the last, the file is written, and the answer has its ETag and Stardust-Revision.",
		Parameters:  []*huma.Param{version, id, require(headerParam("Upload-Offset"))},
		RequestBody: chunk,
		Responses:   h.responses(nil, "204"),
	}, add)
	h.describe(huma.Operation{
		OperationID: "upload-cancel", Method: http.MethodDelete, Path: uploadsPath + "/{id}", Tags: []string{"uploads"},
		Summary:    "End an upload and forget its bytes.",
		Parameters: []*huma.Param{version, id},
		Responses:  h.responses(nil, "204"),
	}, cancel)
}

// list returns the unfinished uploads of who asks.
func (s *tusStore) list(g *grant.Grant) []Unfinished {
	list := []Unfinished{}
	for _, u := range s.area.List() {
		if !owns(g, &u) {
			continue
		}
		list = append(list, Unfinished{
			ID: u.ID, Path: trim(u.Path[len(g.Path("")):]), Size: u.Size, Offset: safe(&u), Metadata: u.Metadata,
			Active: u.Active, Expires: s.area.Expires(&u).UTC(),
		})
	}
	return list
}

// owns reports whether an upload is there for who asks.
func owns(g *grant.Grant, u *staging.Upload) bool {
	return g.Write && g.At == 0 && u.Owner == g.Name && u.Root == trim(g.Root)
}

// safe is the offset that a client is told. The last byte counts only once the file
// is stored: a client that has sent everything and lost the answer sends it again,
// and learns what became of the file.
func safe(u *staging.Upload) int64 {
	if !u.Done && u.Offset == u.Size && u.Size > 0 {
		return u.Size - 1
	}
	return u.Offset
}

func tusHeader(name, value string) handler.HTTPResponse {
	return handler.HTTPResponse{Header: handler.HTTPHeader{name: value}}
}

func revisionHeader(revision int64) string { return strconv.FormatInt(revision, 10) }
