package commit

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// Removal is a node to remove from where it is expected.
type Removal struct {
	Entity, Parent int64
	Name           string

	// What RemoveAll sets: whether it was there, and why it was refused, if it
	// was.
	Removed bool
	Err     error
}

// RemoveAll plans to remove nodes, those in a directory before it. One that is
// elsewhere by now stays; one that can't be removed has its own error, and the
// others go on.
func (p *Plan) RemoveAll(nodes []Removal) error {
	return p.removeNodes(nodes, make(map[int64]bool, len(nodes)), nil)
}

// removeNodes is RemoveAll beside other changes: those that are going already
// need not be removed, and those that are held may not be.
func (p *Plan) removeNodes(nodes []Removal, going, held map[int64]bool) error {
	for i := range nodes {
		r := &nodes[i]
		r.Removed, r.Err = false, nil
		n, found, err := p.tx.Node(r.Entity)
		if err != nil {
			return err
		}
		if !found || n.Parent != r.Parent || n.Name != r.Name || going[r.Entity] {
			continue
		}
		if held[r.Entity] {
			err = errChangedMeanwhile()
		} else {
			err = p.removeAmong(&n, going)
		}
		if err != nil && !tree.Refused(err) {
			return err
		}
		r.Removed, r.Err = err == nil, err
		going[r.Entity] = err == nil
	}
	return nil
}

// errChangedMeanwhile refuses what does not fit what came before it.
func errChangedMeanwhile() error {
	return tree.Refuse(tree.Taken, "its file system changed meanwhile; import it again")
}

// removeAmong removes a node; what is in a directory must be going, too.
func (p *Plan) removeAmong(n *catalog.Node, going map[int64]bool) error {
	if !n.File {
		var stays string
		err := p.tx.Children(n.Entity, "", func(child *catalog.Node) bool {
			if !going[child.Entity] {
				stays = child.Name
			}
			return stays == ""
		})
		if err != nil {
			return err
		}
		if stays != "" {
			return tree.Refuse(tree.NotEmpty, "directory %s is not empty: %s is in it", tree.Quote(n.Name), tree.Quote(stays))
		}
	}
	return p.retract(n)
}
