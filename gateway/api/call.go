package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// call describes one of the spec's operations.
type call struct {
	name, summary string
	request       any
	result        any // nil: no document
	writes        bool
}

var calls = []call{
	{"get", "Read the record of a file or directory.", entityRequest{}, Record{}, false},
	{"lookup", "Find a directory's child by name.", lookupRequest{}, Record{}, false},
	{"children", "List a directory in name order.", childrenRequest{}, []Record{}, false},
	{"path", "Read the names from the root to a node.", entityRequest{}, []string{}, false},
	{"files", "Find the files that hold a payload.", digestRequest{}, []int64{}, false},
	{"manifest", "List the chunks of a payload.", digestRequest{}, Manifest{}, false},
	{"create", "Create files and directories in one commit.", createRequest{}, []Record{}, true},
	{"update", "Point a file at another published payload.", updateRequest{}, Record{}, true},
	{"move", "Rename or move a node.", moveEntityRequest{}, Record{}, true},
	{"remove", "Remove a file or an empty directory.", removeEntityRequest{}, nil, true},
}

type callInput struct {
	At          int64  `query:"at" minimum:"0" doc:"Read the tree as it was at this revision; 0 means now."`
	ContentType string `header:"Content-Type" hidden:"true"`
	Accept      string `header:"Accept" hidden:"true"`
	RawBody     []byte
}

type documentOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (h *Handler) addCalls() {
	for _, c := range calls {
		schema := &huma.Schema{Type: "null"}
		if c.result != nil {
			schema = h.schema(c.result)
		}
		huma.Register(h.api, huma.Operation{
			OperationID: "objects-" + c.name, Method: http.MethodPost, Path: "/v1/objects/" + c.name,
			Summary: c.summary, Tags: []string{"objects"},
			MaxBodyBytes: h.options.MaxDocument, SkipValidateBody: true,
			RequestBody: &huma.RequestBody{Required: true, Content: documents(h.schema(c.request))},
			Responses:   h.responses(schema, "200"),
		}, func(ctx context.Context, in *callInput) (*documentOutput, error) {
			return h.call(ctx, &c, in)
		})
	}
}

func (h *Handler) call(ctx context.Context, c *call, in *callInput) (*documentOutput, error) {
	err := whole(ctx)
	if err == nil && c.writes {
		err = mayWrite(ctx)
	}
	if err != nil {
		return nil, problemOf(err)
	}
	request, err := readDocument(in.RawBody, in.ContentType)
	if err != nil {
		return nil, problemOf(err)
	}
	defer request.Close()
	objects, err := h.view(ctx, in.At)
	if err != nil {
		return nil, problemOf(err)
	}
	result, err := objects.Call(c.name, request)
	if err != nil {
		return nil, problemOf(err)
	}
	if result == nil {
		return &documentOutput{typeJSON, []byte("null")}, nil
	}
	text, contentType, err := encode(result, in.Accept)
	if err != nil {
		return nil, problemOf(err)
	}
	return &documentOutput{contentType, text}, nil
}
