package server

import (
	"html/template"
	"net/http"
)

// indexPage links to the databases of a server that has several.
const indexPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Stardust</title><h1>Databases</h1><ul>{{range .}}<li><a href="{{.}}/">{{.}}</a></li>{{end}}</ul></html>
`

func (s *Server) index(w http.ResponseWriter) {
	var names []string
	for _, site := range s.sites {
		names = append(names, site.options.Name)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	page := template.Must(template.New("index").Parse(indexPage))
	_ = page.Execute(w, names) // the client has gone, then
}
