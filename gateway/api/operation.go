package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describe puts an operation into the OpenAPI document and serves it with a
// plain HTTP handler, for bodies that stream and paths of several segments,
// which OpenAPI lacks.
func (h *Handler) describe(op huma.Operation, serve http.HandlerFunc) {
	h.api.OpenAPI().AddOperation(&op)
	h.mux.HandleFunc(op.Method+" "+strings.Replace(op.Path, "{path}", "{path...}", 1), serve)
}

func pathParam() *huma.Param {
	return &huma.Param{
		Name: "path", In: "path", Required: true, Schema: &huma.Schema{Type: "string"},
		Description: "Names divided by slashes; empty for the root directory.",
	}
}

func atParam() *huma.Param {
	return queryParam("at", integerSchema(0), "Read the tree as it was at this revision; 0 means now.")
}

func queryParam(name string, schema *huma.Schema, description string) *huma.Param {
	return &huma.Param{Name: name, In: "query", Schema: schema, Description: description}
}

func headerParam(name string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Schema: &huma.Schema{Type: "string"}}
}

func integerSchema(least float64) *huma.Schema {
	return &huma.Schema{Type: "integer", Format: "int64", Minimum: &least}
}

func binary() map[string]*huma.MediaType {
	return map[string]*huma.MediaType{binaryType: {Schema: &huma.Schema{Type: "string", Format: "binary"}}}
}

// bytesResponses describe answers with bytes.
func (h *Handler) bytesResponses(description string) map[string]*huma.Response {
	return map[string]*huma.Response{
		"200":     {Description: description, Content: binary()},
		"206":     {Description: "The range asked for", Content: binary()},
		"304":     {Description: "The client has it already"},
		"default": h.problem(),
	}
}

// documents is content of a schema in both formats.
func documents(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{typeJSON: {Schema: schema}, typeDUST: {}}
}

// responses are those of an operation that answers with a document, or with
// nothing.
func (h *Handler) responses(schema *huma.Schema, statuses ...string) map[string]*huma.Response {
	responses := map[string]*huma.Response{"default": h.problem()}
	for _, status := range statuses {
		responses[status] = &huma.Response{Description: "Done"}
		if schema != nil {
			responses[status].Content = documents(schema)
		}
	}
	return responses
}

func (h *Handler) problem() *huma.Response {
	return &huma.Response{Description: "An error", Content: map[string]*huma.MediaType{typeProblem: {Schema: h.schema(Problem{})}}}
}
