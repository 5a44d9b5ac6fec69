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

	// What Import sets: the node that the item is, what happened to it, and
	// why it was refused, if it was.
	Entity  int64
	Outcome Outcome
	Err     error
}

// Outcome is what an import does with an item.
type Outcome int

// The outcomes.
const (
	Unchanged Outcome = iota // it was there, with this content
	Created
	Updated // the file got new content
)

// Import plans items, each directory before what is in it. One that can't be
// made has its own error, and the others go on.
func (p *Plan) Import(items []Item) error {
	type slot struct {
		parent int64
		name   string
	}
	parents := make(map[int64]error) // why nothing can be put into them
	seen := make(map[slot]bool, len(items))
	for i := range items {
		item := &items[i]
		item.Entity, item.Outcome = 0, Unchanged
		parent, fresh, err := p.into(item, items, parents)
		at := slot{parent, item.Name}
		switch {
		case err != nil:
		case seen[at]:
			err = tree.Refuse(tree.Taken, "its file system lists the name %s twice", tree.Quote(item.Name))
		default:
			seen[at] = true
			err = p.bring(item, parent, fresh)
		}
		if err != nil && !tree.Refused(err) {
			return err
		}
		item.Err = err
	}
	return nil
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
	err, known := parents[item.Parent]
	if !known {
		err = tree.Directory(&p.tx.View, "directory", item.Parent)
		parents[item.Parent] = err
	}
	return item.Parent, false, err
}

// bring plans one item.
func (p *Plan) bring(item *Item, parent int64, fresh bool) error {
	if !fresh {
		old, found, err := p.tx.Child(parent, item.Name)
		switch {
		case err != nil:
			return err
		case found && old.File != item.File:
			return otherKind(&old)
		case found && item.File && old.Digest != item.Digest:
			item.Outcome = Updated
			p.add(catalog.Digest(old.Entity, catalog.AttributeDigest, item.Digest))
		}
		if found {
			item.Entity = old.Entity
			return p.describe(item)
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

// describe plans the attributes of a node that is there already.
func (p *Plan) describe(item *Item) error {
	if item.Attributes == nil {
		return nil
	}
	same := false
	err := p.tx.Attributes(item.Entity, func(name string, value []byte) bool {
		if name == attributes.NameFile {
			same = bytes.Equal(value, item.Attributes)
		}
		return name < attributes.NameFile
	})
	if err != nil || same {
		return err
	}
	item.Outcome = Updated
	p.add(catalog.Raw(item.Entity, attributes.NameFile, item.Attributes))
	return nil
}

// otherKind refuses to turn a file into a directory, or the other way round.
func otherKind(old *catalog.Node) error {
	if old.File {
		return tree.Refuse(tree.OtherKind, "is a directory, and a file in the database")
	}
	return tree.Refuse(tree.OtherKind, "is a file, and a directory in the database")
}
