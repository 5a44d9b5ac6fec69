package sidecar

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/stardustdb/stardust/mirror"
)

//go:embed status.html
var files embed.FS

// pageNames are the paths of the sidecar's own pages.
func pageNames() []string {
	return []string{"healthz", "readyz", "metrics", "status", "status.json"}
}

func (s *Sidecar) newPages(m *metrics) map[string]http.Handler {
	page := template.Must(template.New("status.html").Funcs(template.FuncMap{
		"bytes":   func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) },
		"count":   humanize.Comma,
		"percent": percent,
		"misses":  misses,
		"share":   localShare,
		"trouble": trouble,
	}).ParseFS(files, "status.html"))
	return map[string]http.Handler{
		"healthz": readOnly(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok\n") }),
		"readyz":  readOnly(s.serveReady),
		"metrics": readOnly(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP),
		"status": readOnly(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			nonce := rand.Text()
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-"+nonce+"'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			if err := page.Execute(w, shownStatus{s.Status(), nonce}); err != nil {
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

// shownStatus is what the status page shows.
type shownStatus struct {
	Status

	Nonce string // of the page's own script, in the policy
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

func percent(done, size int64) int64 {
	if size <= 0 {
		return 0
	}
	return min(100, done*100/size)
}

// misses counts the mirrored reads that found no local copy.
func misses(c mirror.Counters) int64 { return c.ReadThroughs + c.NotLocal }

// localShare says how many of the mirrored reads were local. It rounds down, so
// that 100 % means all.
func localShare(c mirror.Counters) string {
	reads := c.Hits + misses(c)
	if reads == 0 {
		return "–"
	}
	return strconv.FormatInt(percent(c.Hits, reads), 10) + " %"
}

// trouble is a row of the page for something that should stay zero, and stands
// out when it doesn't.
func trouble(what string, n int64) template.HTML {
	class := "n"
	if n > 0 {
		class += " bad"
	}
	return template.HTML(fmt.Sprintf(`<tr><th scope="row">%s</th><td class="%s">%s</td></tr>`, // the texts are the page's own
		template.HTMLEscapeString(what), class, humanize.Comma(n)))
}
