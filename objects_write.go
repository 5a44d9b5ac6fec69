package stardust

import (
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// MaxNodes is how many nodes one Create makes at most.
const MaxNodes = 4096

// MaxNameLength is the greatest length of a node's name, in bytes.
const MaxNameLength = tree.MaxNameLength

// Create creates files and directories in one commit, in order, and returns an
// array of their records. The document is an array of at most MaxNodes nodes.
// Each has a name, and parent (an entity, 0 by default) or under (the one-based
// position of an earlier directory of the array). A file also has digest
// {#sha256 hex}, which must be published.
//
// It returns StatusInvalidArgument when the array is empty or malformed, a name
// is invalid, or a parent is a file; StatusNotFound when a parent does not
// exist or a digest is not published; StatusConflict when a name is taken in
// its parent or appears twice. The message names the node.
func (v Objects) Create(nodes *Document) (*Document, error) {
	const op = "objects.create"
	value, err := nodes.value()
	if err != nil {
		return nil, withOp(op, err)
	}
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	plan, err := parseNodes(value)
	if err != nil {
		return nil, withOp(op, err)
	}
	var made []catalog.Node
	revision, err := v.commit(func(p *commit.Plan) (err error) {
		made, err = p.Create(plan)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	items := make([]dust.Value, len(made))
	for i := range made {
		made[i].Revision = revision
		items[i] = recordValue(&made[i])
	}
	return newDocument(dust.NewArray(items...)), nil
}

// Update points a file at another published payload and returns its record. An
// update to the payload that it holds already changes nothing and keeps the
// revision.
//
// It returns StatusInvalidArgument when the entity is a directory or invalid,
// the digest is malformed, or expectedRevision is negative; StatusNotFound when
// the file does not exist or the digest is not published; StatusConflict when
// expectedRevision is stale. Zero skips that check.
func (v Objects) Update(entity int64, digest string, expectedRevision int64) (*Document, error) {
	d, err := parseDigest(digest)
	if err != nil {
		return nil, withOp("objects.update", err)
	}
	return v.change("objects.update", entity, expectedRevision, func(p *commit.Plan) (catalog.Node, error) {
		return p.Update(entity, d, expectedRevision)
	})
}

// Move renames or moves a node and returns its record. A move to the current
// name and parent changes nothing and keeps the revision. With replace, a node
// of the same kind at the destination is replaced, a directory only when it is
// empty.
//
// It returns StatusInvalidArgument when the request is malformed, the
// destination is a file or inside the node, the kinds differ, or a replaced
// directory is not empty; StatusNotFound when the node or the destination does
// not exist; StatusConflict when the name is taken and replace is false, or
// expectedRevision is stale. Zero skips that check.
func (v Objects) Move(entity int64, parent int64, name string, expectedRevision int64, replace bool) (*Document, error) {
	const op = "objects.move"
	if err := checkParent("parent", parent); err != nil {
		return nil, withOp(op, err)
	}
	if err := tree.CheckName(name); err != nil {
		return nil, withOp(op, err)
	}
	return v.change(op, entity, expectedRevision, func(p *commit.Plan) (catalog.Node, error) {
		return p.Move(entity, parent, name, expectedRevision, replace)
	})
}

// Remove removes a file or an empty directory. The payload stays published and
// history keeps the node's versions.
//
// It returns StatusInvalidArgument when the entity is invalid, the directory is
// not empty, or expectedRevision is negative; StatusNotFound when the node does
// not exist; StatusConflict when expectedRevision is stale. Zero skips that
// check.
func (v Objects) Remove(entity int64, expectedRevision int64) error {
	const op = "objects.remove"
	if err := checkWrite(entity, expectedRevision); err != nil {
		return withOp(op, err)
	}
	if err := v.writable(); err != nil {
		return withOp(op, err)
	}
	_, err := v.commit(func(p *commit.Plan) error { return p.Remove(entity, expectedRevision) })
	return withOp(op, err)
}

// change runs a write of one node and returns its record.
func (v Objects) change(op string, entity, expected int64, plan func(*commit.Plan) (catalog.Node, error)) (*Document, error) {
	if err := checkWrite(entity, expected); err != nil {
		return nil, withOp(op, err)
	}
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	var n catalog.Node
	revision, err := v.commit(func(p *commit.Plan) (err error) {
		n, err = plan(p)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	if revision != 0 {
		n.Revision = revision
	}
	return newDocument(recordValue(&n)), nil
}

func checkWrite(entity, expected int64) error {
	if err := checkEntity("entity", entity); err != nil {
		return err
	}
	return checkRevision(expected)
}

// parseNodes reads the request of Create. Limits come first.
func parseNodes(v dust.Value) ([]commit.NewNode, error) {
	items := v.Items()
	switch {
	case v.Kind() != dust.Array:
		return nil, invalid("nodes: %v, want an array", v.Kind())
	case len(items) == 0:
		return nil, invalid("nodes: the array is empty")
	case len(items) > MaxNodes:
		return nil, invalid("nodes: %d nodes, at most %d fit in one commit", len(items), MaxNodes)
	}
	nodes := make([]commit.NewNode, len(items))
	for i, item := range items {
		n, err := parseNode(fmt.Sprintf("nodes[%d]", i), item)
		if err != nil {
			return nil, err
		}
		if n.Under > i {
			return nil, invalid("nodes[%d].under: %d is not the position of an earlier node", i, n.Under)
		}
		if n.Under > 0 && nodes[n.Under-1].File {
			return nil, invalid("nodes[%d].under: node %d is a file, not a directory", i, n.Under)
		}
		nodes[i] = n
	}
	return nodes, nil
}

func parseNode(place string, v dust.Value) (commit.NewNode, error) {
	if v.Kind() != dust.Object {
		return commit.NewNode{}, invalid("%s: %v, want an object", place, v.Kind())
	}
	r := request{place: place, value: v}
	var n commit.NewNode
	var ok bool
	n.Name, ok = r.text("name")
	r.required("name", ok)
	n.Digest, n.File = r.digest("digest", false)
	parent, hasParent := r.integer("parent")
	under, hasUnder := r.integer("under")
	r.end()
	switch {
	case r.err != nil:
	case hasParent && hasUnder:
		r.fail("under: stands beside parent; give one of them")
	case parent < 0:
		r.fail("parent: %d is not an entity; 0 is the root directory", parent)
	case hasUnder && (under < 1 || under > MaxNodes):
		r.fail("under: %d is not the position of an earlier node", under)
	default:
		if err := tree.CheckName(n.Name); err != nil {
			r.fail("%v", err)
		}
	}
	n.Parent, n.Under = parent, int(under)
	return n, r.err
}
