package commit

import (
	"fmt"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/tree"
)

// NewNode is one node of a Create, whose form the caller has checked.
type NewNode struct {
	Name   string
	Parent int64
	// Under is the one-based position of an earlier directory of the request;
	// zero means Parent.
	Under  int
	File   bool
	Digest digest.Digest
	// Attributes is the value of the attribute attributes.NameFile, as compact
	// JSON; nil is none.
	Attributes []byte
}

// Create plans nodes in order and returns them without revisions.
func (p *Plan) Create(nodes []NewNode) ([]catalog.Node, error) {
	made := make([]catalog.Node, 0, len(nodes))
	type slot struct {
		parent int64
		name   string
	}
	seen := make(map[slot]int, len(nodes))
	first := p.next
	for i := range nodes {
		n, err := p.create(&nodes[i], made, first)
		if err != nil {
			return nil, tree.Within(fmt.Sprintf("nodes[%d]", i), err)
		}
		key := slot{n.Parent, n.Name}
		if j, ok := seen[key]; ok {
			return nil, tree.Refuse(tree.Taken, "nodes[%d]: name %s appears already as nodes[%d]", i, tree.Quote(n.Name), j)
		}
		seen[key] = i
		made = append(made, n)
	}
	return made, nil
}

// create plans one node. The ids of the request's own nodes begin at first.
func (p *Plan) create(n *NewNode, made []catalog.Node, first int64) (catalog.Node, error) {
	out := catalog.Node{Name: n.Name, Parent: n.Parent, File: n.File, Digest: n.Digest}
	if n.Under > 0 {
		// The parent is of this request: nothing is in it yet.
		out.Parent = made[n.Under-1].Entity
	} else {
		if n.Parent >= first {
			return out, tree.Refuse(tree.Missing, "parent %d: no directory has this entity", n.Parent)
		}
		if err := tree.Directory(&p.tx.View, "parent", n.Parent); err != nil {
			return out, err
		}
		other, found, err := p.tx.Child(n.Parent, n.Name)
		if err != nil {
			return out, err
		}
		if found {
			return out, taken(n.Parent, n.Name, &other)
		}
	}
	if n.File {
		payload, err := tree.Payload(&p.tx.View, "digest", n.Digest)
		if err != nil {
			return out, err
		}
		out.Size = payload.Size
	}
	p.makeNode(&out)
	if n.Attributes != nil {
		p.add(catalog.Raw(out.Entity, attributes.NameFile, n.Attributes))
	}
	return out, nil
}

// makeNode gives a node its entity and collects its facts.
func (p *Plan) makeNode(n *catalog.Node) {
	n.Entity = p.newEntity()
	p.add(catalog.Int64(n.Entity, catalog.AttributeParent, n.Parent),
		catalog.String(n.Entity, catalog.AttributeName, n.Name))
	if n.File {
		p.add(catalog.Digest(n.Entity, catalog.AttributeDigest, n.Digest))
	}
}
