package sidecar

import (
	"crypto/rand"
	_ "embed" // status.html
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

//go:embed status.html
var statusPage string

// pageNames are the paths of the sidecar's own pages.
func pageNames() []string {
	return []string{"healthz", "readyz", "metrics", "status", "status.json"}
}

func (s *Sidecar) newPages(m *metrics) map[string]http.Handler {
	return map[string]http.Handler{
		"healthz": readOnly(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") }),
		"readyz":  readOnly(s.serveReady),
		"metrics": readOnly(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP),
		"status": readOnly(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			nonce := rand.Text()
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-"+nonce+"'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if _, err := io.WriteString(w, renderStatus(s.Status(), nonce)); err != nil {
				s.options.Logger.Debug("the status page could not be sent", "error", err)
			}
		}),
		"status.json": readOnly(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			encoder := json.NewEncoder(w)
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(s.Status()); err != nil {
				s.options.Logger.Debug("the status could not be sent", "error", err)
			}
		}),
	}
}

// serveReady answers 200 once the sidecar is warm, before that 503.
func (s *Sidecar) serveReady(w http.ResponseWriter, _ *http.Request) {
	switch warm := s.warm.Load(); {
	case warm.ready():
		answer(w, http.StatusOK, string(s.state())+"\n")
	case warm.err != nil:
		answer(w, http.StatusServiceUnavailable, "warming failed and is tried again: "+warm.err.Error()+"\n")
	default:
		answer(w, http.StatusServiceUnavailable, string(warm.state)+"\n")
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client has gone
}

func readOnly(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method) {
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, http.StatusMethodNotAllowed, "this page can only be read\n")
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		serve(w, r)
	})
}
