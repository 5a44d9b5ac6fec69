package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

func (h *Handler) putFile(w http.ResponseWriter, r *http.Request) {
	record, created, err := h.put(w, r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	w.Header().Set("ETag", etag(record.Digest))
	writeValue(w, r, status, record)
}

func (h *Handler) put(w http.ResponseWriter, r *http.Request) (record stardust.Record, created bool, err error) {
	if err := mayWrite(r.Context()); err != nil {
		return record, false, err
	}
	body, err := h.body(w, r)
	if err != nil {
		return record, false, err
	}
	tree := h.now(r.Context())
	options := &stardust.PutOptions{Parents: true, New: r.Header.Get("If-None-Match") == "*"}
	if options.ExpectedRevision, err = expected(tree, r); err != nil {
		return record, false, err
	}
	_, missing := tree.Resolve(pathOf(r))
	record, err = h.lanes.Put(r.Context(), tree, pathOf(r), body, options, patience.Interrupt(w))
	return record, missing != nil, preconditionFailed(r, bodyError(err))
}

// body returns the bytes of a request: at most as many as the handler accepts,
// and exactly those that the request promises.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) (io.Reader, error) {
	if h.options.MaxUpload > 0 {
		if r.ContentLength > h.options.MaxUpload {
			return nil, tooLarge(h.options.MaxUpload)
		}
		r.Body = http.MaxBytesReader(w, r.Body, h.options.MaxUpload)
	}
	if r.Header.Get("Content-Digest") == "" {
		return r.Body, nil
	}
	want, err := promisedDigest(r.Header)
	if err != nil {
		return nil, err
	}
	return newPromisedReader(r.Body, want), nil
}

// promisedDigest reads Content-Digest.
func promisedDigest(header http.Header) ([]byte, error) {
	for one := range strings.SplitSeq(header.Get("Content-Digest"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if !strings.EqualFold(name, "sha-256") {
			continue
		}
		want, err := base64.StdEncoding.DecodeString(strings.Trim(value, ":"))
		if err != nil || len(want) != sha256.Size {
			return nil, badRequest("Content-Digest: " + value + " is not the base64 of a SHA-256 between colons")
		}
		return want, nil
	}
	return nil, badRequest("Content-Digest: give sha-256=:BASE64:")
}

// promisedReader fails at its end when the bytes are not those promised.
type promisedReader struct {
	from io.Reader
	hash hash.Hash
	want []byte
}

func newPromisedReader(from io.Reader, want []byte) *promisedReader {
	return &promisedReader{from, sha256.New(), want}
}

func (p *promisedReader) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	p.hash.Write(b[:n])
	if err == io.EOF && subtle.ConstantTimeCompare(p.hash.Sum(nil), p.want) == 0 {
		return n, newProblem(stardust.StatusInvalidArgument, codeBody, "the body is not what Content-Digest says: nothing was stored; send it again", http.StatusBadRequest)
	}
	return n, err
}

// expected returns the revision of the file that If-Match names, zero without
// the header.
func expected(tree stardust.Tree, r *http.Request) (int64, error) {
	match := r.Header.Get("If-Match")
	if match == "" {
		return 0, nil
	}
	record, err := tree.Resolve(pathOf(r))
	if err != nil {
		return 0, preconditionFailed(r, err)
	}
	for one := range strings.SplitSeq(match, ",") {
		if one = strings.TrimSpace(one); one == "*" || one == etag(record.Digest) {
			return record.Revision, nil
		}
	}
	return 0, staleDigest()
}

// preconditionFailed gives a conflict caused by a condition of the request
// HTTP's status for it.
func preconditionFailed(r *http.Request, err error) error {
	if err == nil || r.Header.Get("If-Match") == "" && r.Header.Get("If-None-Match") == "" {
		return err
	}
	return conditionFailed(err)
}

func staleDigest() *Problem {
	return newProblem(stardust.StatusConflict, codeStaleDigest, "the file has another digest than If-Match names: read it again", http.StatusPreconditionFailed)
}

func conditionFailed(err error) error {
	p := problemOf(err)
	if p.http == http.StatusConflict && p.Code != stardust.CodeWritesHeld || p.http == http.StatusNotFound {
		p = newProblem(stardust.StatusConflict, p.Code, p.Message, http.StatusPreconditionFailed)
	}
	return p
}

func (h *Handler) deleteFile(w http.ResponseWriter, r *http.Request) {
	if err := h.remove(r); err != nil {
		writeProblem(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) remove(r *http.Request) error {
	if err := mayWrite(r.Context()); err != nil {
		return err
	}
	if strings.Trim(r.PathValue("path"), "/") == "" {
		return badRequest("path: the root cannot be removed")
	}
	tree := h.now(r.Context())
	revision, err := expected(tree, r)
	if err != nil {
		return err
	}
	record, err := tree.Resolve(pathOf(r))
	if err != nil {
		return err
	}
	if record.Kind == stardust.KindDirectory && flag(r, "recursive") {
		return tree.RemoveAll(record.Entity)
	}
	return preconditionFailed(r, tree.Remove(record.Entity, revision))
}

func etag(d stardust.Digest) string { return `"` + d.String() + `"` }
