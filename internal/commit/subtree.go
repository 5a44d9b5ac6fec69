package commit

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// RemoveTrees plans to remove nodes and everything in them. It refuses when that is
// more than most nodes, or one of them is not there.
func (p *Plan) RemoveTrees(entities []int64, most int) error {
	gone := make(map[int64]bool)
	for _, entity := range entities {
		if gone[entity] {
			continue // it lay in one before it
		}
		n, err := p.expected(entity, 0)
		if err != nil {
			return err
		}
		if err := p.removeTree(&n, gone, most); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes a node and then what is in it, level by level: how deep a tree
// is must not matter.
func (p *Plan) removeTree(root *catalog.Node, gone map[int64]bool, most int) error {
	for waiting := []catalog.Node{*root}; len(waiting) > 0; {
		n := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if gone[n.Entity] {
			continue // it was named before what it lies in
		}
		if gone[n.Entity] = true; len(gone) > most {
			return tree.Refuse(tree.Invalid, "there are more than %d files and directories to remove: remove parts of them", most)
		}
		if err := p.retract(&n); err != nil {
			return err
		}
		if n.File {
			continue
		}
		err := p.tx.Children(n.Entity, "", func(child *catalog.Node) bool {
			waiting = append(waiting, *child)
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// MoveInto plans to move nodes into a directory, under the names that they have.
func (p *Plan) MoveInto(entities []int64, parent int64) error {
	names := make(map[string]int64, len(entities))
	for _, entity := range entities {
		n, err := p.expected(entity, 0)
		if err != nil {
			return err
		}
		if other, ok := names[n.Name]; ok && other != entity {
			return tree.Refuse(tree.Taken, "entities %d and %d are both called %s, and one directory cannot have both", other, entity, tree.Quote(n.Name))
		} else if ok {
			continue
		}
		names[n.Name] = entity
		if _, err := p.Move(entity, parent, n.Name, 0, false); err != nil {
			return err
		}
	}
	return nil
}
