// Package web is the page by which people use a database: plain ES modules, in the
// program, that speak to gateway/api beside them by relative addresses.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// policy lets the page load what this server has and nothing else, and run its own
// modules only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; " +
	"connect-src 'self'; frame-src 'self' blob:; object-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

// Handler serves the page at / and its files at /static/.
func Handler() http.Handler {
	files := http.FileServerFS(static)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		header.Set("Cache-Control", "no-cache")
		switch r.URL.Path {
		case "/":
			page, err := fs.ReadFile(static, "static/index.html")
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			header.Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(page) // the client has gone, then
		case "/favicon.ico":
			r.URL.Path = "/static/icon.svg"
			files.ServeHTTP(w, r)
		default:
			files.ServeHTTP(w, r)
		}
	})
}
