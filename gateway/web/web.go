// Package web is the page for using a database in a browser: plain ES modules,
// embedded in the program, that call gateway/api by relative addresses.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed static
var static embed.FS

// policy lets the page load only what this server has, and run only its own
// modules.
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
