package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// MoveRequest says what to move where.
type MoveRequest struct {
	From             string `json:"from" doc:"The path of a file or directory."`
	To               string `json:"to" doc:"Its path from then on, in a directory that exists."`
	Replace          bool   `json:"replace,omitempty" doc:"Replace a node of the same kind; a directory only when it is empty."`
	ExpectedRevision int64  `json:"expectedRevision,omitempty" doc:"Of the record that the caller decided by; 0 skips the check."`
}

// CopyRequest says what to copy where.
type CopyRequest struct {
	From    string `json:"from" doc:"The path of a file or directory."`
	At      int64  `json:"at,omitempty" minimum:"0" doc:"Copy it as it was at this revision: to restore it. 0 means now."`
	To      string `json:"to" doc:"The path of the copy, in a directory that exists."`
	Replace bool   `json:"replace,omitempty" doc:"Give a file that is there the content instead of refusing."`
}

type recordOutput struct{ Body Record }

func (h *Handler) addDirectories() {
	h.describe(huma.Operation{
		OperationID: "directory-make", Method: http.MethodPut, Path: "/v1/directories/{path}", Tags: []string{"files"},
		Summary:     "Make a directory and those that are missing on the way.",
		Description: "One commit. A directory that is there already is answered as it is.",
		Parameters:  []*huma.Param{pathParam()}, Responses: h.responses(h.schema(Record{}), "200", "201"),
	}, h.makeDirectory)
	huma.Register(h.api, h.operation("move", "/v1/move", "Move or rename a file or directory by path.",
		"One commit; the node keeps its entity and history."),
		func(ctx context.Context, in *struct{ Body MoveRequest }) (*recordOutput, error) {
			record, err := h.move(ctx, &in.Body)
			return answer(record, err)
		})
	huma.Register(h.api, h.operation("copy", "/v1/copy", "Copy a file or directory by path, also from the past.",
		"One commit of at most 4096 nodes; no bytes are stored again."),
		func(ctx context.Context, in *struct{ Body CopyRequest }) (*recordOutput, error) {
			record, err := h.copy(ctx, &in.Body)
			return answer(record, err)
		})
}

func (h *Handler) operation(id, path, summary, description string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, Description: description,
		Tags: []string{"files"}, MaxBodyBytes: h.options.MaxDocument, Responses: h.responses(h.schema(Record{}), "200"),
	}
}

func answer(record stardust.Record, err error) (*recordOutput, error) {
	if err != nil {
		return nil, problemOf(err)
	}
	out := Record{Entity: record.Entity, Parent: record.Parent, Revision: record.Revision, Name: record.Name, Kind: string(record.Kind)}
	if record.Kind == stardust.KindFile {
		out.Size, out.Digest = &record.Size, &Digest{record.Digest.String()}
	}
	return &recordOutput{out}, nil
}

func (h *Handler) makeDirectory(w http.ResponseWriter, r *http.Request) {
	record, made, err := h.makeAll(r.Context(), r.PathValue("path"))
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	writeValue(w, r, status, record)
}

// makeAll makes the directories of a path that are missing.
func (h *Handler) makeAll(ctx context.Context, path string) (record stardust.Record, made bool, err error) {
	if err := mayWrite(ctx); err != nil {
		return record, false, err
	}
	tree := h.now(ctx)
	record = stardust.Record{Kind: stardust.KindDirectory}
	names := split(grant.From(ctx).Path(path))
	for i, name := range names {
		child, err := tree.Lookup(record.Entity, name)
		if isNotFound(err) {
			return createDirectories(tree, record.Entity, names[i:])
		}
		if err != nil {
			return record, false, err
		}
		record = child
	}
	if record.Kind != stardust.KindDirectory {
		return record, false, newProblem(stardust.StatusConflict, stardust.CodeOtherKind, "there is a file of that name", http.StatusConflict)
	}
	return record, false, nil
}

func createDirectories(tree stardust.Tree, parent int64, names []string) (stardust.Record, bool, error) {
	nodes := make([]stardust.NewNode, len(names))
	for i, name := range names {
		nodes[i] = stardust.NewNode{Name: name, Parent: parent, Under: i}
		if i > 0 {
			nodes[i].Parent = 0
		}
	}
	records, err := tree.Create(nodes...)
	if err != nil {
		return stardust.Record{}, false, err
	}
	return records[len(records)-1], true, nil
}

func (h *Handler) move(ctx context.Context, in *MoveRequest) (record stardust.Record, err error) {
	if err := mayWrite(ctx); err != nil {
		return record, err
	}
	if strings.Trim(in.From, "/") == "" {
		return record, badRequest("from: the root cannot be moved")
	}
	tree := h.now(ctx)
	from, err := tree.Resolve(grant.From(ctx).Path(in.From))
	if err != nil {
		return record, err
	}
	parent, name, err := destination(ctx, tree, in.To)
	if err != nil {
		return record, err
	}
	return tree.Move(from.Entity, parent.Entity, name, in.ExpectedRevision, in.Replace)
}

// destination returns the directory that a path is in, and its name there.
func destination(ctx context.Context, tree stardust.Tree, path string) (parent stardust.Record, name string, err error) {
	if strings.Trim(path, "/") == "" {
		return parent, "", badRequest("to: the root is no destination")
	}
	names := split(grant.From(ctx).Path(path))
	parent, err = tree.Resolve(strings.Join(names[:len(names)-1], "/"))
	if err == nil && parent.Kind != stardust.KindDirectory {
		err = badRequest("to: the parent is a file")
	}
	return parent, names[len(names)-1], err
}

// split returns the names of a path.
func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}
