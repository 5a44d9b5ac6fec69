package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust/gateway/api"
)

// documented holds what passes between a client and the handler against the
// OpenAPI document: that the operation is in it, with this status, this content
// type, and a body of this schema.
type documented struct {
	t    testing.TB
	next http.RoundTripper

	mu       sync.Mutex
	doc      *huma.OpenAPI
	succeded map[string]bool // operation ids
}

func newDocumented(t testing.TB, h *api.Handler) *documented {
	t.Helper()
	return &documented{t: t, next: http.DefaultTransport, doc: h.Document(), succeded: map[string]bool{}}
}

func (d *documented) RoundTrip(r *http.Request) (*http.Response, error) {
	op := d.find(r.Method, r.URL.Path)
	if op == nil {
		d.t.Errorf("%s %s is not in the document", r.Method, r.URL.Path)
		return d.next.RoundTrip(r)
	}
	for name := range r.URL.Query() {
		if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name }) {
			d.t.Errorf("%s takes no parameter %s by the document", op.OperationID, name)
		}
	}
	resp, err := d.next.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	d.check(op, resp)
	return resp, nil
}

// find returns the operation of a path.
func (d *documented) find(method, path string) *huma.Operation {
	for template, item := range d.doc.Paths {
		prefix, _, bound := strings.Cut(template, "{")
		if path != template && (!bound || !strings.HasPrefix(path, prefix)) {
			continue
		}
		return map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPut: item.Put, http.MethodPost: item.Post, http.MethodDelete: item.Delete,
			http.MethodHead: item.Head, http.MethodPatch: item.Patch,
		}[method]
	}
	return nil
}

func (d *documented) check(op *huma.Operation, resp *http.Response) {
	d.mu.Lock()
	defer d.mu.Unlock()
	described := op.Responses[strconv.Itoa(resp.StatusCode)]
	if described == nil && resp.StatusCode >= http.StatusBadRequest {
		described = op.Responses["default"]
	}
	if described == nil {
		d.t.Errorf("%s: the status %d is not in the document", op.OperationID, resp.StatusCode)
		return
	}
	if resp.StatusCode < http.StatusBadRequest {
		d.succeded[op.OperationID] = true
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	content := described.Content[kind]
	if content == nil {
		if kind != "" || len(described.Content) > 0 {
			d.t.Errorf("%s: the content type %q of status %d is not in the document", op.OperationID, kind, resp.StatusCode)
		}
		return
	}
	if !strings.HasSuffix(kind, "json") || content.Schema == nil || resp.Request.Method == http.MethodHead {
		return
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Error(err)
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		d.t.Errorf("%s: %v in %s", op.OperationID, err, text)
		return
	}
	result := &huma.ValidateResult{}
	huma.Validate(d.doc.Components.Schemas, content.Schema, huma.NewPathBuffer([]byte("body"), 0), huma.ModeReadFromServer, value, result)
	for _, err := range result.Errors {
		d.t.Errorf("%s: %v: %s", op.OperationID, err, text)
	}
}

// all fails for every operation of the document that nothing used.
func (d *documented) all() {
	for path, item := range d.doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete} {
			if op != nil && !d.succeded[op.OperationID] {
				d.t.Errorf("%s (%s) was not driven to success", op.OperationID, path)
			}
		}
	}
}
