package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// RemoveRequest says what to remove.
type RemoveRequest struct {
	Paths     []string `json:"paths" minItems:"1" maxItems:"4096" doc:"The paths of files and directories."`
	Recursive bool     `json:"recursive,omitempty" doc:"Of directories, remove everything in them, too."`
}

// MoveIntoRequest says what to move into which directory.
type MoveIntoRequest struct {
	Paths []string `json:"paths" minItems:"1" maxItems:"4096" doc:"The paths of files and directories, which keep their names."`
	Into  string   `json:"into" doc:"The path of a directory; empty for the root."`
}

func (h *Handler) addSeveral() {
	none := func(op huma.Operation) huma.Operation {
		op.DefaultStatus, op.Responses = http.StatusNoContent, h.responses(nil, "204")
		return op
	}
	huma.Register(h.api, none(h.operation("remove", "/v1/remove", "Remove several files and directories.",
		"One commit: all of it goes or nothing. Earlier versions stay readable.")),
		func(ctx context.Context, in *struct{ Body RemoveRequest }) (*struct{}, error) {
			return nil, problemOrNil(h.removeSeveral(ctx, &in.Body))
		})
	huma.Register(h.api, none(h.operation("move-into", "/v1/move-into", "Move several files and directories into a directory.",
		"One commit: all of them move or none. A name that is taken there is a conflict.")),
		func(ctx context.Context, in *struct{ Body MoveIntoRequest }) (*struct{}, error) {
			return nil, problemOrNil(h.moveInto(ctx, &in.Body))
		})
}

// problemOrNil is [problemOf] of what may be no error.
func problemOrNil(err error) error {
	if err == nil {
		return nil
	}
	return problemOf(err)
}

func (h *Handler) removeSeveral(ctx context.Context, in *RemoveRequest) error {
	tree, nodes, err := h.several(ctx, in.Paths)
	if err != nil {
		return err
	}
	entities := make([]int64, len(nodes))
	for i, node := range nodes {
		entities[i] = node.Entity
		if node.Kind != stardust.KindDirectory || in.Recursive {
			continue
		}
		for _, err := range tree.Children(node.Entity) {
			if err == nil {
				err = newProblem(stardust.StatusInvalidArgument, stardust.CodeNotEmpty, "the directory "+in.Paths[i]+" is not empty: ask with recursive to remove what is in it", http.StatusBadRequest)
			}
			return err
		}
	}
	return tree.RemoveAll(entities...)
}

func (h *Handler) moveInto(ctx context.Context, in *MoveIntoRequest) error {
	tree, nodes, err := h.several(ctx, in.Paths)
	if err != nil {
		return err
	}
	into, err := tree.Resolve(grant.From(ctx).Path(in.Into))
	if err != nil {
		return err
	}
	entities := make([]int64, len(nodes))
	for i, node := range nodes {
		entities[i] = node.Entity
	}
	return tree.MoveInto(into.Entity, entities...)
}

// several returns the nodes at the paths of a request that changes them.
func (h *Handler) several(ctx context.Context, paths []string) (stardust.Tree, []stardust.Record, error) {
	tree := h.now(ctx)
	if err := mayWrite(ctx); err != nil {
		return tree, nil, err
	}
	nodes := make([]stardust.Record, len(paths))
	for i, path := range paths {
		if trim(path) == "" {
			return tree, nil, badRequest("paths: the root stays where it is")
		}
		var err error
		if nodes[i], err = tree.Resolve(grant.From(ctx).Path(path)); err != nil {
			return tree, nil, err
		}
	}
	return tree, nodes, nil
}
