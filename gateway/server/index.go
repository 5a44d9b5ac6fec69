package server

import (
	"html"
	"net/http"
	"net/url"
	"strings"
)

// index links to the databases of a server that has several. It does without
// html/template, which would make the whole program larger by a quarter.
func (s *Server) index(w http.ResponseWriter) {
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Stardust</title><h1>Databases</h1><ul>`)
	for _, site := range s.sites {
		name := site.options.Name
		page.WriteString(`<li><a href="` + html.EscapeString(url.PathEscape(name)) + `/">` + html.EscapeString(name) + `</a></li>`)
	}
	page.WriteString("</ul></html>\n")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	_, _ = w.Write([]byte(page.String())) // the client has gone, then
}
