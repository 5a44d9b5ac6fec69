package commit

import (
	"bytes"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/tree"
)

// Item is a file or directory that an import brings, and what became of it.
type Item struct {
	// Parent is the directory's entity. When the same Import brings the
	// directory, Under is its one-based position instead.
	Parent int64
	Under  int
	// Orphan says that an earlier Import refused the item's directory.
	Orphan bool
	Name   string
	File   bool
	Digest digest.Digest // of a file's payload, which is published
	// Attributes is the value of the attribute attributes.NameFile that the node
	// gets, as compact JSON; nil leaves it alone.
	Attributes []byte
	// Speaks are the members that Attributes is responsible for: those that it
	// does not set are removed from an existing node.
	Speaks attributes.Members
	// Fresh says that the item's directory is only planned, and so empty.
	Fresh bool
	// Replace lets the item take the place of a file, or of an empty directory,
	// when it is of the other kind.
	Replace bool

	// What Import sets: the item's node, its revision if it did not change, what
	// happened to it, and why it was refused, if it was. Blocked is the non-empty
	// directory in its place, From the old path of a moved file beneath the
	// import's directory.
	Entity   int64
	Revision int64
	Outcome  Outcome
	From     string
	Blocked  int64
	Err      error
}

// Outcome is what an import does with an item.
type Outcome int

// The outcomes.
const (
	Unchanged Outcome = iota // it was there, with this content
	Created
	Updated // the file got new content
	Moved   // the file was elsewhere
)

// Moves finds files that moved: those beneath the directory Into whose path from
// there is gone.
type Moves struct {
	Into int64
	Gone func(path string) bool
}

// Import plans items, each directory before what is in it. One that can't be
// made has its own error, and the others go on. Without moves, which may be nil,
// every file that has no node is made. Then it plans to remove nodes as RemoveAll
// does, but for what an item is or lies in.
func (p *Plan) Import(items []Item, moves *Moves, gone []Removal) error {
	type slot struct {
		parent int64
		name   string
	}
	m := mover{plan: p, moves: moves, touched: make(map[int64]bool)}
	held := make(map[int64]bool)     // directories that something is in
	parents := make(map[int64]error) // why nothing can be put into them
	seen := make(map[slot]bool, len(items))
	for i := range items {
		item := &items[i]
		item.Entity, item.Outcome, item.Blocked, item.From = 0, Unchanged, 0, ""
		parent, fresh, err := p.into(item, items, parents)
		at := slot{parent, item.Name}
		switch {
		case err != nil:
		case seen[at]:
			err = tree.Refuse(tree.Taken, "its file system lists the name %s twice", tree.Quote(item.Name))
		default:
			seen[at], held[parent] = true, true
			err = p.bring(item, parent, fresh, &m)
		}
		if err != nil && !tree.Refused(err) {
			return err
		}
		item.Err = err
	}
	going := make(map[int64]bool, len(gone))
	for i := range items {
		if items[i].Outcome == Moved {
			going[items[i].Entity] = true // away from where it was
		} else {
			held[items[i].Entity] = true
		}
	}
	for _, entity := range m.ended {
		going[entity] = true
	}
	return p.removeNodes(gone, going, held)
}

// into returns the directory of an item, and whether this commit makes it, so
// that nothing can be in it yet. One that an earlier commit made may have been
// removed since.
func (p *Plan) into(item *Item, items []Item, parents map[int64]error) (parent int64, fresh bool, err error) {
	if item.Orphan || item.Under > 0 && items[item.Under-1].Err != nil {
		return 0, false, tree.Refuse(tree.Invalid, "its directory was not imported")
	}
	if item.Under > 0 {
		directory := &items[item.Under-1]
		return directory.Entity, directory.Outcome == Created, nil
	}
	if item.Fresh {
		return item.Parent, true, nil
	}
	err, known := parents[item.Parent]
	if !known {
		err = tree.Directory(&p.tx.View, "directory", item.Parent)
		parents[item.Parent] = err
	}
	return item.Parent, false, err
}

// bring plans one item.
func (p *Plan) bring(item *Item, parent int64, fresh bool, m *mover) error {
	if !fresh {
		old, found, err := p.tx.Child(parent, item.Name)
		switch {
		case err != nil:
			return err
		case found && m.touched[old.Entity]:
			return errChangedMeanwhile()
		case found && old.File != item.File:
			if err := p.giveWay(item, &old); err != nil {
				return err
			}
			m.ended = append(m.ended, old.Entity)
		case found:
			m.touched[old.Entity] = true
			return p.keep(item, &old)
		}
	}
	if item.File {
		if moved, err := m.move(item, parent); moved || err != nil {
			return err
		}
	}
	n := catalog.Node{Parent: parent, Name: item.Name, File: item.File, Digest: item.Digest}
	p.makeNode(&n)
	item.Entity, item.Outcome = n.Entity, Created
	if item.Attributes != nil {
		p.add(catalog.Raw(n.Entity, attributes.NameFile, item.Attributes))
	}
	return nil
}

// keep plans an item whose node is there.
func (p *Plan) keep(item *Item, old *catalog.Node) error {
	item.Entity, item.Revision = old.Entity, old.Revision
	if item.File && old.Digest != item.Digest {
		item.Outcome = Updated
		p.add(catalog.Digest(old.Entity, catalog.AttributeDigest, item.Digest))
	}
	return p.describe(item)
}

// giveWay plans to remove a node of the other kind.
func (p *Plan) giveWay(item *Item, old *catalog.Node) error {
	if !item.Replace {
		return otherKind(old)
	}
	err := p.remove(old)
	if tree.Refused(err) {
		item.Blocked = old.Entity
	}
	return err
}

// describe plans the attributes of an item whose node is there already.
func (p *Plan) describe(item *Item) error {
	changed, err := p.describeNode(item.Entity, item.Attributes, item.Speaks)
	if changed && item.Outcome == Unchanged {
		item.Outcome = Updated
	}
	return err
}

// describeNode plans what is known of a node that is there, and reports whether
// that is something new.
func (p *Plan) describeNode(entity int64, value []byte, speaks attributes.Members) (changed bool, err error) {
	if value == nil {
		return false, nil
	}
	old, err := p.tx.Attribute(entity, attributes.NameFile)
	if err != nil {
		return false, err
	}
	if old != nil {
		if value = attributes.Renew(old, value, speaks); bytes.Equal(old, value) {
			return false, nil
		}
	}
	p.add(catalog.Raw(entity, attributes.NameFile, value))
	return true, nil
}

// otherKind refuses to turn a file into a directory, or the other way round.
func otherKind(old *catalog.Node) error {
	if old.File {
		return tree.Refuse(tree.OtherKind, "is a directory, and a file in the database")
	}
	return tree.Refuse(tree.OtherKind, "is a file, and a directory in the database")
}
