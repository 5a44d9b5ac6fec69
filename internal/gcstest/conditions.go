package gcstest

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// conditions passes requests on to the emulator, but holds the conditions of
// joins and copies first: the generation of the destination, and those of the
// sources of a join.
type conditions struct {
	proxy *httputil.ReverseProxy
	inner string
	// writes is held for reading by what writes, and for writing by what looks
	// first and then writes.
	writes sync.RWMutex
}

func newConditions(target *url.URL) *conditions {
	return &conditions{
		inner: target.String(),
		proxy: &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
			// Tests break requests off on purpose.
			ErrorLog: log.New(io.Discard, "", 0),
		},
	}
}

// ServeHTTP implements http.Handler.
func (c *conditions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	object, isJoin := strings.CutSuffix(path, "/compose")
	_, destination, isCopy := strings.Cut(path, "/rewriteTo/")
	switch {
	case r.Method == http.MethodGet:
	case isJoin || isCopy:
		if isCopy {
			object = "/storage/v1/" + destination
		}
		c.writes.Lock()
		defer c.writes.Unlock()
		if want := r.URL.Query().Get("ifGenerationMatch"); want != "" && c.generation(r, object) != want {
			refuse(w, http.StatusPreconditionFailed, "conditionNotMet")
			return
		}
		if isJoin && !c.sourcesMatch(r, object) {
			refuse(w, http.StatusNotFound, "notFound")
			return
		}
	default:
		c.writes.RLock()
		defer c.writes.RUnlock()
	}
	c.proxy.ServeHTTP(w, r)
}

// sourcesMatch reports whether the sources of a join have the generations that
// the request names.
func (c *conditions) sourcesMatch(r *http.Request, object string) bool {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	var request struct {
		SourceObjects []struct{ Name, Generation string }
	}
	if json.Unmarshal(text, &request) != nil {
		return true // the emulator's to refuse
	}
	folder := object[:strings.LastIndex(object, "/")+1]
	for _, source := range request.SourceObjects {
		if c.generation(r, folder+url.PathEscape(source.Name)) != source.Generation {
			return false
		}
	}
	return true
}

// generation returns that of an object, "0" when there is none.
func (c *conditions) generation(r *http.Request, path string) string {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, c.inner+path, nil)
	if err != nil {
		return ""
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return "0"
	}
	var object struct{ Generation string }
	if json.NewDecoder(answer.Body).Decode(&object) != nil {
		return ""
	}
	return object.Generation
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": http.StatusText(status), "errors": []any{map[string]any{"reason": reason}},
	}})
}
