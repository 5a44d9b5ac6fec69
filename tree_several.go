package stardust

import "github.com/stardustdb/stardust/internal/commit"

// MaxRemoval is how many nodes [Tree.RemoveAll] removes at most in its one commit.
const MaxRemoval = 1 << 20

// RemoveAll removes nodes and, of directories, everything in them, in one commit:
// either all of it is gone or nothing. Other writes wait meanwhile, about a second for
// a hundred thousand nodes. Payloads stay published and history keeps the versions.
//
// It returns StatusInvalidArgument when an entity is invalid or there are more than
// MaxRemoval nodes, and StatusNotFound when one of the named does not exist.
func (v Tree) RemoveAll(entities ...int64) error {
	return v.several("objects.removeall", entities, func(p *commit.Plan) error { return p.RemoveTrees(entities, MaxRemoval) })
}

// MoveInto moves nodes into a directory in one commit, each under the name that it
// has.
//
// It returns StatusInvalidArgument when an entity is invalid, the parent is a file, or
// inside one of the nodes; StatusNotFound when one of them does not exist;
// StatusConflict with CodeNameTaken when a name is taken there, or two of the nodes
// have one name.
func (v Tree) MoveInto(parent int64, entities ...int64) error {
	const op = "objects.moveinto"
	if err := checkParent("parent", parent); err != nil {
		return withOp(op, err)
	}
	return v.several(op, entities, func(p *commit.Plan) error { return p.MoveInto(entities, parent) })
}

// several runs a write of several nodes.
func (v Tree) several(op string, entities []int64, plan func(*commit.Plan) error) error {
	if err := v.writable(); err != nil {
		return withOp(op, err)
	}
	for _, entity := range entities {
		if err := checkEntity("entity", entity); err != nil {
			return withOp(op, err)
		}
	}
	if len(entities) == 0 {
		return nil
	}
	_, err := v.commit(plan)
	return withOp(op, err)
}
