package cors

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Answer sets the headers of the answer to a request of the page.
func (g Grant) Answer(h http.Header, q Request) {
	if len(q.Headers) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.ToLower(strings.Join(g.rule.Headers, ", ")))
	}
	h.Set("Access-Control-Allow-Origin", g.origin)
	h.Set("Access-Control-Allow-Methods", strings.Join(g.rule.Methods, ", "))
	// The page's keys are in the request itself; "*" goes with no others.
	h.Set("Access-Control-Allow-Credentials", strconv.FormatBool(g.origin != "*"))
	if len(g.rule.Expose) > 0 {
		h.Set("Access-Control-Expose-Headers", strings.Join(g.rule.Expose, ", "))
	}
	if g.rule.MaxAge != nil {
		h.Set("Access-Control-Max-Age", strconv.Itoa(*g.rule.MaxAge))
	}
	h.Add("Vary", vary)
}

// Preflight sets the headers of the answer to a browser that asks before the request
// of the page.
func (g Grant) Preflight(h http.Header, q Request) {
	g.Answer(h, q)
	if len(q.Headers) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(q.Headers, ", "))
	}
	if !slices.Contains(g.rule.Expose, "ETag") {
		h.Set("Access-Control-Expose-Headers", strings.Join(append(slices.Clone(g.rule.Expose), "ETag"), ", "))
	}
}
