package stardust

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/tree"
)

// MaxNodes is how many nodes one Create makes at most.
const MaxNodes = 4096

// MaxNameLength is the greatest length of a node's name, in bytes.
const MaxNameLength = tree.MaxNameLength

// NewNode is a file or directory that [Tree.Create] makes.
type NewNode struct {
	// Name is the node's name in its parent: UTF-8 of 1 to MaxNameLength bytes,
	// without "/" or NUL, neither "." nor "..".
	Name string
	// Parent is the entity of the directory that the node goes into; zero is
	// the root.
	Parent int64
	// Under puts the node into an earlier directory of the same Create instead,
	// by its position, the first being 1. Zero means Parent.
	Under int
	// Digest is the published payload of a file. Nil makes a directory.
	Digest *Digest
	// File, when not nil, is kept of the node in the same commit.
	File *FileAttributes
}

// Create makes files and directories in one commit, in order, at most MaxNodes
// of them, and returns their records.
//
// It returns StatusInvalidArgument when there are none or too many, a name is
// invalid, or a parent is a file; StatusNotFound when a parent does not exist or
// a digest is not published; StatusConflict with CodeNameTaken when a name is
// taken in its parent or appears twice. The message names the node.
func (v Tree) Create(nodes ...NewNode) ([]Record, error) {
	const op = "objects.create"
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	checked, err := checkNodes(nodes)
	if err != nil {
		return nil, withOp(op, err)
	}
	var made []catalog.Node
	revision, err := v.commit(func(p *commit.Plan) (err error) {
		made, err = p.Create(checked)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	records := make([]Record, len(made))
	for i := range made {
		made[i].Revision = revision
		records[i] = newRecord(&made[i])
	}
	return records, nil
}

// checkCount comes first, so that a request that is too large costs no work.
func checkCount(nodes int) error {
	switch {
	case nodes == 0:
		return invalid("nodes: the array is empty")
	case nodes > MaxNodes:
		return invalid("nodes: %d nodes, at most %d fit in one commit", nodes, MaxNodes)
	}
	return nil
}

func checkNodes(nodes []NewNode) ([]commit.NewNode, error) {
	if err := checkCount(len(nodes)); err != nil {
		return nil, err
	}
	checked := make([]commit.NewNode, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		if err := n.check(nodes[:i]); err != nil {
			return nil, invalid("nodes[%d].%v", i, err)
		}
		attributes, _, err := n.File.encode()
		if err != nil {
			return nil, invalid("nodes[%d].File: %v", i, err)
		}
		checked[i] = commit.NewNode{Name: n.Name, Parent: n.Parent, Under: n.Under, Attributes: attributes}
		if n.Digest != nil {
			checked[i].File, checked[i].Digest = true, *n.Digest
		}
	}
	return checked, nil
}

// check refuses a node that makes no sense after those before it.
func (n *NewNode) check(before []NewNode) error {
	if err := tree.CheckName(n.Name); err != nil {
		return err
	}
	if err := checkParent("parent", n.Parent); err != nil {
		return err
	}
	switch {
	case n.Under == 0:
		return nil
	case n.Parent != 0:
		return invalid("under: stands beside parent; give one of them")
	case n.Under < 0 || n.Under > len(before):
		return invalid("under: %d is not the position of an earlier node; the first is 1", n.Under)
	case before[n.Under-1].Digest != nil:
		return invalid("under: %d is the position of nodes[%d], a file, not a directory", n.Under, n.Under-1)
	}
	return nil
}

// Update points a file at another published payload and returns its record. An
// update to the payload that it holds already changes nothing and keeps the
// revision.
//
// It returns StatusInvalidArgument when the entity is a directory or invalid, or
// expectedRevision is negative; StatusNotFound when the file does not exist or
// the digest is not published; StatusConflict with CodeStaleRevision when
// expectedRevision is stale.
func (v Tree) Update(entity int64, digest Digest, expectedRevision int64) (Record, error) {
	return v.change("objects.update", entity, expectedRevision, nil, func(p *commit.Plan) (catalog.Node, error) {
		return p.Update(entity, digest, expectedRevision)
	})
}

// Move renames or moves a node and returns its record. A move to the current
// name and parent changes nothing and keeps the revision. With replace, a node
// of the same kind at the destination is replaced, a directory only when it is
// empty.
//
// It returns StatusInvalidArgument when the name or an entity is invalid, the
// destination is a file or inside the node, the kinds differ, a replaced
// directory is not empty, or expectedRevision is negative; StatusNotFound when
// the node or the destination does not exist; StatusConflict with CodeNameTaken
// when the name is taken and replace is false, with CodeStaleRevision when
// expectedRevision is stale.
func (v Tree) Move(entity, parent int64, name string, expectedRevision int64, replace bool) (Record, error) {
	check := func() error {
		if err := checkParent("parent", parent); err != nil {
			return err
		}
		return tree.CheckName(name)
	}
	return v.change("objects.move", entity, expectedRevision, check, func(p *commit.Plan) (catalog.Node, error) {
		return p.Move(entity, parent, name, expectedRevision, replace)
	})
}

// Remove removes a file or an empty directory. The payload stays published and
// history keeps the node's versions.
//
// It returns StatusInvalidArgument when the entity is invalid, the directory is
// not empty (CodeNotEmpty), or expectedRevision is negative; StatusNotFound when
// the node does not exist; StatusConflict with CodeStaleRevision when
// expectedRevision is stale.
func (v Tree) Remove(entity, expectedRevision int64) error {
	_, err := v.change("objects.remove", entity, expectedRevision, nil, func(p *commit.Plan) (catalog.Node, error) {
		return catalog.Node{}, p.Remove(entity, expectedRevision)
	})
	return err
}

// change runs a write of one node and returns its record as the commit left it.
func (v Tree) change(op string, entity, expected int64, check func() error, plan func(*commit.Plan) (catalog.Node, error)) (Record, error) {
	err := v.writable()
	if err == nil {
		err = checkWrite(entity, expected)
	}
	if err == nil && check != nil {
		err = check()
	}
	if err != nil {
		return Record{}, withOp(op, err)
	}
	var n catalog.Node
	revision, err := v.commit(func(p *commit.Plan) (err error) {
		n, err = plan(p)
		return err
	})
	if err != nil {
		return Record{}, withOp(op, err)
	}
	if revision != 0 {
		n.Revision = revision
	}
	return newRecord(&n), nil
}

func checkWrite(entity, expected int64) error {
	if err := checkEntity("entity", entity); err != nil {
		return err
	}
	if expected < 0 {
		return invalid("expectedRevision: %d is negative; 0 skips the check", expected)
	}
	return nil
}
