package api

import (
	"context"
	"errors"
	"path"
	"strconv"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

func (h *Handler) copy(ctx context.Context, in *CopyRequest) (record stardust.Record, err error) {
	if err := mayWrite(ctx); err != nil {
		return record, err
	}
	past, err := h.view(ctx, in.At)
	if err != nil {
		return record, err
	}
	from, err := past.Tree().Resolve(grant.From(ctx).Path(in.From))
	if err != nil {
		return record, err
	}
	if from.Entity == 0 {
		return record, badRequest("from: the root cannot be copied")
	}
	tree := h.now(ctx)
	parent, name, err := destination(ctx, tree, in.To)
	if err != nil {
		return record, err
	}
	existing, err := tree.Lookup(parent.Entity, name)
	switch {
	case err == nil && in.Replace && existing.Kind == stardust.KindFile && from.Kind == stardust.KindFile:
		return tree.Update(existing.Entity, from.Digest, existing.Revision)
	case err != nil && !isNotFound(err):
		return record, err
	}
	nodes, err := copied(past.Tree(), from, parent.Entity, name)
	if err != nil {
		return record, err
	}
	records, err := tree.Create(nodes...) // which refuses a name that is taken
	if err != nil {
		return record, err
	}
	return records[0], nil
}

// copied returns the nodes that make a copy of a node and what is beneath it.
func copied(tree stardust.Tree, from stardust.Record, parent int64, name string) ([]stardust.NewNode, error) {
	var nodes []stardust.NewNode
	positions := map[string]int{} // of directories, by path
	for entry, err := range tree.Walk(from.Entity) {
		if err != nil {
			return nil, err
		}
		if len(nodes) == stardust.MaxNodes {
			return nil, badRequest("from: there are more than " + strconv.Itoa(stardust.MaxNodes) + " files and directories beneath it: copy its parts")
		}
		node := stardust.NewNode{Name: entry.Record.Name}
		if entry.Path == "" {
			node.Name, node.Parent = name, parent
		} else if dir := path.Dir(entry.Path); dir == "." {
			node.Under = 1
		} else {
			node.Under = positions[dir]
		}
		if entry.Record.Kind == stardust.KindFile {
			d := entry.Record.Digest
			node.Digest = &d
		} else {
			positions[entry.Path] = len(nodes) + 1
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func isNotFound(err error) bool { return errors.Is(err, stardust.StatusNotFound) }
