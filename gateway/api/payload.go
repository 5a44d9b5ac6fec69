package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

// immutable is the caching of addresses that always mean the same bytes.
const immutable = "private, max-age=31536000, immutable"

func (h *Handler) addPayloads() {
	h.describe(huma.Operation{
		OperationID: "objects-open", Method: http.MethodGet, Path: "/v1/payloads/{digest}", Tags: []string{"objects"},
		Summary:     "Read a payload, or a range of it.",
		Description: "The ETag is the digest; ranges and conditions are HTTP's. Every byte is verified before it is sent: damage ends the connection.",
		Parameters: []*huma.Param{
			{Name: "digest", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}, Description: "The payload's SHA-256, 64 hexadecimal digits."},
		},
		Responses: h.bytesResponses("The payload"),
	}, h.getPayload)
	h.describe(huma.Operation{
		OperationID: "objects-upload", Method: http.MethodPost, Path: "/v1/payloads", Tags: []string{"objects"},
		Summary: "Upload a payload.",
		Description: "The body's bytes become a payload once all of them have arrived; a body that is cut short publishes nothing. " +
			"Content-Digest: sha-256=:BASE64: says what the body must be.",
		Parameters:  []*huma.Param{headerParam("Content-Digest")},
		RequestBody: &huma.RequestBody{Required: true, Content: binary()},
		Responses:   h.responses(h.schema(Published{}), "201"),
	}, h.upload)
}

func (h *Handler) getPayload(w http.ResponseWriter, r *http.Request) {
	err := whole(r.Context())
	var d stardust.Digest
	if err == nil {
		d, err = stardust.ParseDigest(r.PathValue("digest"))
	}
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", immutable)
	h.serve(w, r, h.now(r.Context()), d, "")
}

// serve sends a payload, or as much as the request's range and conditions
// select. The name decides its type.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, tree stardust.Tree, d stardust.Digest, name string) {
	reader, err := patience.Open(r.Context(), tree, d)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	defer func() { _ = reader.Close() }() // always nil
	header := w.Header()
	header.Set("ETag", etag(d))
	header.Set("Content-Type", binaryType)
	kind := "attachment"
	if show := shown(name); flag(r, "inline") && show != binaryType {
		kind = "inline"
		header.Set("Content-Type", show)
		if show == "application/pdf" {
			header.Set("Content-Security-Policy", documentPolicy)
		}
	}
	header.Set("Content-Disposition", kind)
	if name != "" {
		header.Set("Content-Disposition", disposition(kind, name))
	}
	checked := &checkedReader{reader: reader}
	http.ServeContent(&rangeProblem{ResponseWriter: w, r: r}, r, "", time.Time{}, checked)
	if checked.err != nil {
		// The answer has begun: only a broken connection can say so.
		h.options.Logger.Error("a read was broken off", "digest", d.String(), "error", checked.err)
		panic(http.ErrAbortHandler)
	}
}

// rangeProblem gives a refused range the form of all errors.
type rangeProblem struct {
	http.ResponseWriter

	r       *http.Request
	refused bool
}

// Unwrap lets http.ResponseController and io.Copy reach the connection.
func (p *rangeProblem) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *rangeProblem) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		p.ResponseWriter.WriteHeader(status)
		return
	}
	p.refused = true
	writeProblem(p.ResponseWriter, p.r, newProblem(stardust.StatusInvalidArgument, "range", "the range "+p.r.Header.Get("Range")+" lies outside of the payload", status))
}

func (p *rangeProblem) Write(b []byte) (int, error) {
	if p.refused {
		return len(b), nil
	}
	return p.ResponseWriter.Write(b)
}

// checkedReader remembers that a read failed, which http.ServeContent does not
// report.
type checkedReader struct {
	reader io.ReadSeeker
	err    error
}

func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	var e *stardust.Error
	if errors.As(err, &e) && e.Status != stardust.StatusCanceled {
		c.err = err
	}
	return n, err
}

func (c *checkedReader) Seek(offset int64, whence int) (int64, error) {
	return c.reader.Seek(offset, whence)
}

func (h *Handler) upload(w http.ResponseWriter, r *http.Request) {
	published, err := h.publish(w, r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Location", "/v1/payloads/"+published.Digest.String())
	writeValue(w, r, http.StatusCreated, published)
}

func (h *Handler) publish(w http.ResponseWriter, r *http.Request) (published stardust.Published, err error) {
	if err := errors.Join(whole(r.Context()), mayWrite(r.Context())); err != nil {
		return published, err
	}
	body, err := h.body(w, r)
	if err != nil {
		return published, err
	}
	published, err = h.lanes.Publish(r.Context(), h.now(r.Context()), body, patience.Interrupt(w))
	return published, bodyError(err)
}

// bodyError says why a body could not be read to its end.
func bodyError(err error) error {
	var e *stardust.Error
	var p *Problem
	var large *http.MaxBytesError
	switch {
	case err == nil, errors.As(err, &e), errors.As(err, &p), isBusy(err):
		return err
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, context.Canceled):
		return newProblem(stardust.StatusCanceled, codeBody, "the client went before the body's end", http.StatusBadRequest)
	}
	return newProblem(stardust.StatusInvalidArgument, codeBody, "the body broke off before its end: "+strings.TrimSpace(err.Error()), http.StatusBadRequest)
}
