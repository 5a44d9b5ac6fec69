package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// maxSearch bounds how long one search goes on.
const maxSearch = 10 * time.Second

// Found is a node that a search found.
type Found struct {
	Path   string `json:"path" doc:"From where the search began, with a leading slash."`
	Record Record `json:"record"`
}

// Findings are what a search found.
type Findings struct {
	Found    []Found `json:"found"`
	Complete bool    `json:"complete" doc:"Everything was looked at: there is nothing more."`
}

func (h *Handler) addSearch() {
	h.describe(huma.Operation{
		OperationID: "search", Method: http.MethodGet, Path: "/v1/search/{path}", Tags: []string{"files"},
		Summary:     "Find files and directories beneath a path by a part of their names.",
		Description: "Upper and lower case are the same. It stops at limit, or after ten seconds, and says so.",
		Parameters: []*huma.Param{
			pathParam(), atParam(),
			{Name: "name", In: "query", Required: true, Schema: &huma.Schema{Type: "string"}, Description: "A part of the name."},
			queryParam("limit", integerSchema(1), "At most so many; 100 without it."),
		},
		Responses: h.responses(h.schema(Findings{}), "200"),
	}, h.search)
}

func (h *Handler) search(w http.ResponseWriter, r *http.Request) {
	findings, err := h.find(r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	writeValue(w, r, http.StatusOK, findings)
}

type found struct {
	Path   string `json:"path"`
	Record any    `json:"record"`
}

type findings struct {
	Found    []found `json:"found"`
	Complete bool    `json:"complete"`
}

func (h *Handler) find(r *http.Request) (*findings, error) {
	limit, err := limitOf(r.URL.Query(), 100)
	if err != nil {
		return nil, err
	}
	part := strings.ToLower(r.URL.Query().Get("name"))
	if part == "" {
		return nil, badRequest("name: give a part of the name to look for")
	}
	tree, record, err := h.resolve(r)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(r.Context(), maxSearch)
	defer cancel()
	result := &findings{Found: []found{}}
	for entry, err := range tree.WithContext(bounded).Walk(record.Entity) {
		switch {
		case err != nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && r.Context().Err() == nil:
			return result, nil
		case err != nil:
			return nil, err
		case entry.Path == "" || !strings.Contains(strings.ToLower(entry.Record.Name), part):
			continue
		case len(result.Found) == limit:
			return result, nil
		}
		result.Found = append(result.Found, found{"/" + entry.Path, entry.Record})
	}
	result.Complete = true
	return result, nil
}
