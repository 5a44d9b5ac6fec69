package api

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
)

func (h *Handler) addLargest() {
	h.describe(huma.Operation{
		OperationID: "largest", Method: http.MethodGet, Path: "/v1/largest/{path}", Tags: []string{"files"},
		Summary:     "List the largest files beneath a path, the largest first.",
		Description: "It looks at every file, for ten seconds at most, and says whether it has seen all.",
		Parameters:  []*huma.Param{pathParam(), atParam(), queryParam("limit", integerSchema(1), "At most so many; 20 without it.")},
		Responses:   h.responses(h.schema(Findings{}), "200"),
	}, fresh(h.largest))
}

func (h *Handler) largest(r *http.Request) (*findings, error) {
	limit, err := limitOf(r.URL.Query(), 20)
	if err != nil {
		return nil, err
	}
	tree, record, err := h.resolve(r)
	if err != nil {
		return nil, err
	}
	var best []stardust.Entry
	bySize := func(a, b stardust.Entry) int {
		return cmp.Or(cmp.Compare(b.Record.Size, a.Record.Size), cmp.Compare(a.Path, b.Path))
	}
	complete, err := walk(r.Context(), tree, record, func(entry stardust.Entry) bool {
		if entry.Record.Kind == stardust.KindFile && (len(best) < limit || bySize(entry, best[limit-1]) <= 0) {
			at, _ := slices.BinarySearchFunc(best, entry, bySize)
			best = slices.Insert(best, at, entry)
			best = best[:min(len(best), limit)]
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	result := &findings{Found: []found{}, Complete: complete}
	for _, entry := range best {
		result.Found = append(result.Found, found{"/" + entry.Path, entry.Record})
	}
	return result, nil
}
