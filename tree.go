package stardust

import (
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
)

// MaxNodes is how many nodes one Create makes at most.
const MaxNodes = 4096

// newNode is one node of a Create.
type newNode struct {
	name   string
	parent int64
	under  int // one-based position of an earlier directory; zero means parent
	file   bool
	digest Digest
}

// createNodes plans the nodes in order and returns them without revisions.
func (p *planner) createNodes(nodes []newNode) ([]catalog.Node, error) {
	made := make([]catalog.Node, 0, len(nodes))
	type slot struct {
		parent int64
		name   string
	}
	taken := make(map[slot]int, len(nodes))
	first := p.next
	for i := range nodes {
		n, err := p.createNode(&nodes[i], made, first)
		if err != nil {
			return nil, within(fmt.Sprintf("nodes[%d]", i), err)
		}
		key := slot{n.Parent, n.Name}
		if j, ok := taken[key]; ok {
			return nil, conflict(CodeNameTaken, "nodes[%d]: name %s appears already as nodes[%d]", i, shorten(n.Name), j)
		}
		taken[key] = i
		made = append(made, n)
	}
	return made, nil
}

func (p *planner) createNode(n *newNode, made []catalog.Node, first int64) (catalog.Node, error) {
	out := catalog.Node{Name: n.name, Parent: n.parent, File: n.file, Digest: n.digest}
	if n.under > 0 {
		// The parent is of this request: nothing is in it yet.
		out.Parent = made[n.under-1].Entity
	} else {
		if n.parent >= first {
			return out, notFound("parent %d: no directory has this entity", n.parent)
		}
		if err := p.directory("parent", n.parent); err != nil {
			return out, err
		}
		if err := p.freeName(n.parent, n.name); err != nil {
			return out, err
		}
	}
	if n.file {
		payload, err := p.payload("digest", n.digest)
		if err != nil {
			return out, err
		}
		out.Size = payload.Size
	}
	out.Entity = p.newEntity()
	p.facts = append(p.facts,
		catalog.Int64(out.Entity, catalog.AttributeParent, out.Parent),
		catalog.String(out.Entity, catalog.AttributeName, out.Name))
	if n.file {
		p.facts = append(p.facts, catalog.Digest(out.Entity, catalog.AttributeDigest, n.digest))
	}
	return out, nil
}

// updateFile plans to point a file at another payload and returns the node as
// it will be.
func (p *planner) updateFile(entity int64, digest Digest, expected int64) (catalog.Node, error) {
	n, err := p.node(entity)
	if err != nil {
		return n, err
	}
	if !n.File {
		return n, invalid("entity %d: is the directory %s; only a file has a payload", entity, shorten(n.Name))
	}
	if err := p.expect(&n, expected); err != nil {
		return n, err
	}
	payload, err := p.payload("digest", digest)
	if err != nil || n.Digest == digest {
		return n, err
	}
	n.Digest, n.Size = digest, payload.Size
	p.facts = append(p.facts, catalog.Digest(entity, catalog.AttributeDigest, digest))
	return n, nil
}

// moveNode plans to rename or move a node and returns it as it will be.
func (p *planner) moveNode(entity, parent int64, name string, expected int64, replace bool) (catalog.Node, error) {
	n, err := p.node(entity)
	if err != nil {
		return n, err
	}
	if err := p.expect(&n, expected); err != nil {
		return n, err
	}
	if err := p.directory("parent", parent); err != nil {
		return n, err
	}
	if n.Parent == parent && n.Name == name {
		return n, nil
	}
	if !n.File {
		if err := p.outside(entity, parent); err != nil {
			return n, err
		}
	}
	other, occupied, err := p.tx.Child(parent, name)
	if err != nil {
		return n, err
	}
	if occupied {
		if !replace {
			return n, nameTaken(parent, name, &other)
		}
		if other.File != n.File {
			return n, invalid("replace: entity %d at %s is not of the same kind as entity %d", other.Entity, shorten(name), entity)
		}
		if err := p.removeNode(&other); err != nil {
			return n, err
		}
	}
	if n.Parent != parent {
		p.facts = append(p.facts, catalog.Int64(entity, catalog.AttributeParent, parent))
	}
	if n.Name != name {
		p.facts = append(p.facts, catalog.String(entity, catalog.AttributeName, name))
	}
	n.Parent, n.Name = parent, name
	return n, nil
}

// outside checks that a directory is not moved into itself or below: it walks
// from the destination up. It runs inside the commit, so two moves that race
// can't make a loop.
func (p *planner) outside(entity, parent int64) error {
	climb := climber{view: &p.tx.View}
	for at := parent; at != catalog.Root; {
		if at == entity {
			return invalid("parent %d: lies inside entity %d, which cannot move into itself", parent, entity)
		}
		n, err := climb.node(at)
		if err != nil {
			return err
		}
		at = n.Parent
	}
	return nil
}

// remove plans to remove a file or an empty directory.
func (p *planner) remove(entity, expected int64) error {
	n, err := p.node(entity)
	if err != nil {
		return err
	}
	if err := p.expect(&n, expected); err != nil {
		return err
	}
	return p.removeNode(&n)
}

func (p *planner) removeNode(n *catalog.Node) error {
	if !n.File {
		full, err := p.tx.HasChildren(n.Entity)
		if err != nil {
			return err
		}
		if full {
			e := invalid("entity %d: directory %s is not empty", n.Entity, shorten(n.Name))
			e.Code = CodeNotEmpty
			return e
		}
	}
	p.facts = append(p.facts,
		catalog.Retract(n.Entity, catalog.AttributeParent),
		catalog.Retract(n.Entity, catalog.AttributeName))
	if n.File {
		p.facts = append(p.facts, catalog.Retract(n.Entity, catalog.AttributeDigest))
	}
	return p.tx.Attributes(n.Entity, func(name string, _ []byte) bool {
		p.facts = append(p.facts, catalog.Retract(n.Entity, name))
		return true
	})
}

// climber walks from a node to the root. Stored parents that go round in a
// circle are damage; one that does not exist is not_found, as the objects spec
// has it for Path.
type climber struct {
	view *catalog.View
	// mark is the node seen at the last power of two of steps (Brent): a
	// circle comes back to it.
	mark         int64
	steps, limit int
}

func (c *climber) node(entity int64) (catalog.Node, error) {
	n, found, err := c.view.Node(entity)
	switch {
	case err != nil:
		return n, err
	case !found:
		return n, notFound("entity %d: does not exist, but is named as a parent", entity)
	case n.File:
		return n, damaged(nil, "entity %d is named as a parent but is a file", entity)
	case entity == c.mark && c.steps > 0:
		return n, damaged(nil, "entity %d is its own ancestor", entity)
	}
	if c.steps == c.limit {
		c.mark, c.limit = entity, 2*c.limit+1
		c.steps = 0
	}
	c.steps++
	return n, nil
}

// within says in which part of a request an error arose.
func within(place string, err error) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // only our own, unwrapped
		named := *e
		named.Message = place + ": " + e.Message
		return &named
	}
	return err
}
