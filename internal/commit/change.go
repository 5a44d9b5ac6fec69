package commit

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/tree"
)

// Update plans to point a file at another payload and returns the node as it
// will be, but for the revision. Expected is the file's revision; zero expects
// any.
func (p *Plan) Update(entity int64, d digest.Digest, expected int64) (catalog.Node, error) {
	n, err := tree.Node(&p.tx.View, entity)
	if err != nil {
		return n, err
	}
	if !n.File { // whatever its revision is
		return n, tree.Refuse(tree.Invalid, "entity %d: is the directory %s; only a file has a payload", entity, tree.Quote(n.Name))
	}
	if n, err = p.expected(entity, expected); err != nil {
		return n, err
	}
	payload, err := tree.Payload(&p.tx.View, "digest", d)
	if err != nil || n.Digest == d {
		return n, err
	}
	n.Digest, n.Size = d, payload.Size
	p.add(catalog.Digest(entity, catalog.AttributeDigest, d))
	return n, nil
}

// Move plans to rename or move a node and returns it as it will be, but for the
// revision. With replace, a node of the same kind at the destination goes, a
// directory only when it is empty.
func (p *Plan) Move(entity, parent int64, name string, expected int64, replace bool) (catalog.Node, error) {
	n, err := p.expected(entity, expected)
	if err != nil {
		return n, err
	}
	if err := tree.Directory(&p.tx.View, "parent", parent); err != nil {
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
	if err := p.vacate(&n, parent, name, replace); err != nil {
		return n, err
	}
	if n.Parent != parent {
		p.add(catalog.Int64(entity, catalog.AttributeParent, parent))
	}
	if n.Name != name {
		p.add(catalog.String(entity, catalog.AttributeName, name))
	}
	n.Parent, n.Name = parent, name
	return n, nil
}

// outside checks that a directory is not moved into itself or below: it walks
// from the destination up. It runs inside the commit, so two moves that race
// can't make a loop.
func (p *Plan) outside(entity, parent int64) error {
	inside := tree.Refuse(tree.Invalid, "parent %d: lies inside entity %d, which cannot move into itself", parent, entity)
	return tree.Climb(&p.tx.View, parent, func(n *catalog.Node) error {
		if n.Entity == entity {
			return inside
		}
		return nil
	})
}

// vacate makes the place that n moves to free.
func (p *Plan) vacate(n *catalog.Node, parent int64, name string, replace bool) error {
	other, occupied, err := p.tx.Child(parent, name)
	switch {
	case err != nil || !occupied:
		return err
	case !replace:
		return taken(parent, name, &other)
	case other.File != n.File:
		return tree.Refuse(tree.Invalid, "replace: entity %d at %s is not of the same kind as entity %d", other.Entity, tree.Quote(name), n.Entity)
	}
	return p.remove(&other)
}

// Remove plans to remove a file or an empty directory.
func (p *Plan) Remove(entity, expected int64) error {
	n, err := p.expected(entity, expected)
	if err != nil {
		return err
	}
	return p.remove(&n)
}

func (p *Plan) remove(n *catalog.Node) error {
	if !n.File {
		full, err := p.tx.HasChildren(n.Entity)
		if err != nil {
			return err
		}
		if full {
			return tree.Refuse(tree.NotEmpty, "entity %d: directory %s is not empty", n.Entity, tree.Quote(n.Name))
		}
	}
	return p.retract(n)
}

// retract plans the end of a node.
func (p *Plan) retract(n *catalog.Node) error {
	p.add(catalog.Retract(n.Entity, catalog.AttributeParent),
		catalog.Retract(n.Entity, catalog.AttributeName))
	if n.File {
		p.add(catalog.Retract(n.Entity, catalog.AttributeDigest))
	}
	return p.tx.Attributes(n.Entity, func(name string, _ []byte) bool {
		p.add(catalog.Retract(n.Entity, name))
		return true
	})
}
