package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
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
	}, fresh(h.search))
}

type found struct {
	Path   string `json:"path"`
	Record any    `json:"record"`
}

type findings struct {
	Found    []found `json:"found"`
	Complete bool    `json:"complete"`
}

func (h *Handler) search(r *http.Request) (*findings, error) {
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
	result := &findings{Found: []found{}}
	result.Complete, err = walk(r.Context(), tree, record, func(entry stardust.Entry) bool {
		if entry.Path == "" || !strings.Contains(strings.ToLower(entry.Record.Name), part) {
			return true
		}
		if len(result.Found) == limit {
			return false
		}
		result.Found = append(result.Found, found{"/" + entry.Path, entry.Record})
		return true
	})
	return result, err
}

// walk shows what is at and beneath a node, for as long as a search may take or until
// see has seen enough. It reports whether that was all.
func walk(ctx context.Context, tree stardust.Tree, node stardust.Record, see func(stardust.Entry) (more bool)) (all bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, maxSearch)
	defer cancel()
	for entry, err := range tree.WithContext(bounded).Walk(node.Entity) {
		switch {
		case err != nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
			return false, nil
		case err != nil:
			return false, err
		case !see(entry):
			return false, nil
		}
	}
	return true, nil
}
