package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
)

// filesPath is where paths of the tree begin.
const filesPath = "/v1/files/"

func (h *Handler) addFiles() {
	h.describe(huma.Operation{
		OperationID: "file-read", Method: http.MethodGet, Path: filesPath + "{path}", Tags: []string{"files"},
		Summary: "Read a file, a range of it, or a directory.",
		Description: "A file's ETag is its payload's digest; ranges and conditions are HTTP's. A file is answered as an attachment, and with inline=true as what " +
			"its name's ending says when no browser would run that. A directory is the records of its children in name order, or with format=tar or zip " +
			"everything beneath it. With limit, a Link header of rel=next leads to the records that follow.",
		Parameters: []*huma.Param{
			pathParam(), atParam(),
			queryParam("inline", &huma.Schema{Type: "boolean"}, "Of a file: for showing rather than saving."),
			queryParam("format", &huma.Schema{Type: "string", Enum: []any{"tar", "zip"}}, "Of a directory: everything beneath it as one stream."),
			queryParam("only", &huma.Schema{Type: "array", Items: &huma.Schema{Type: "string"}}, "Of an archive: only the children of these names, with what is beneath them."),
			queryParam("after", &huma.Schema{Type: "string"}, "Of a directory: only children whose names follow this one, by bytes."),
			queryParam("limit", integerSchema(1), "Of a directory: at most so many children."),
			queryParam("times", &huma.Schema{Type: "boolean"}, "Of a directory: add to each record the time of its revision."),
		},
		Responses: h.fileResponses(),
	}, h.getFile)
	h.describe(huma.Operation{
		OperationID: "file-write", Method: http.MethodPut, Path: filesPath + "{path}", Tags: []string{"files"},
		Summary: "Write a file whole.",
		Description: "The file becomes what the body is once all of it has arrived, in one commit; a body that is cut short changes nothing. Missing " +
			"directories are made. If-Match names the digest to replace, If-None-Match: * demands that there is no such file, and Content-Digest: " +
			"sha-256=:BASE64: what the body must be.",
		Parameters:  []*huma.Param{pathParam(), headerParam("If-Match"), headerParam("If-None-Match"), headerParam("Content-Digest")},
		RequestBody: &huma.RequestBody{Required: true, Content: binary()},
		Responses:   h.responses(h.schema(Record{}), "200", "201"),
	}, h.putFile)
	h.describe(huma.Operation{
		OperationID: "file-remove", Method: http.MethodDelete, Path: filesPath + "{path}", Tags: []string{"files"},
		Summary:     "Remove a file or a directory.",
		Description: "Earlier versions stay readable. If-Match names the digest that a file must have. A directory that is not empty takes recursive=true.",
		Parameters: []*huma.Param{
			pathParam(), headerParam("If-Match"),
			queryParam("recursive", &huma.Schema{Type: "boolean"}, "Remove everything beneath a directory, too, in the same commit."),
		},
		Responses: h.responses(nil, "204"),
	}, h.deleteFile)
}

func (h *Handler) fileResponses() map[string]*huma.Response {
	responses := h.bytesResponses("The file's bytes, a directory's records, or its archive")
	content := responses["200"].Content
	content[typeJSON] = &huma.MediaType{Schema: h.schema([]TimedRecord{})}
	content["application/x-tar"] = content["application/octet-stream"]
	content["application/zip"] = content["application/octet-stream"]
	return responses
}

func (h *Handler) getFile(w http.ResponseWriter, r *http.Request) {
	tree, record, err := h.resolve(r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Stardust-Revision", strconv.FormatInt(record.Revision, 10))
	if record.Kind == stardust.KindDirectory {
		h.getDirectory(w, r, tree, record)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	h.serve(w, r, tree, record.Digest, record.Name)
}

func (h *Handler) getDirectory(w http.ResponseWriter, r *http.Request, tree stardust.Tree, record stardust.Record) {
	switch format := r.URL.Query().Get("format"); format {
	case "tar", "zip":
		h.archive(w, r, tree, record, format)
	case "":
		h.list(w, r, tree, record)
	default:
		writeProblem(w, r, badRequest("format: "+strconv.Quote(format)+" is neither tar nor zip"))
	}
}

// flag reads a parameter that is on or off.
func flag(r *http.Request, name string) bool {
	on, _ := strconv.ParseBool(r.URL.Query().Get(name))
	return on
}
