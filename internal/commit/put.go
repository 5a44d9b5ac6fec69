package commit

import (
	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// File is a file to make or replace at a path.
type File struct {
	Path  string
	Names []string // of the path, at least one
	// Parents says to make the directories that are missing on the way, at
	// most MaxParents.
	Parents    bool
	MaxParents int
	// New refuses to replace a file.
	New bool
	// Expected is the revision of the existing file; zero allows any, or none.
	Expected int64

	Digest digest.Digest
	Size   int64
	// Attributes is the value of the attribute attributes.NameFile that the file
	// gets, as compact JSON; nil leaves it alone.
	Attributes []byte
	// Speaks are the members that Attributes speaks for.
	Speaks attributes.Members
	// Changes replace the attributes of their names; null removes one. The caller
	// has checked the names; none is attributes.NameFile when Attributes is set.
	Changes []Change
}

// Check refuses a file that could not be written now, whatever its content.
func (f *File) Check(v *catalog.View) error {
	_, err := f.place(v)
	return err
}

func (f *File) place(v *catalog.View) (tree.Place, error) {
	at, err := tree.Find(v, f.Path, f.Names)
	if err != nil {
		return at, err
	}
	n := &at.Node
	there := at.Depth == len(f.Names)
	switch missing := len(f.Names) - 1 - at.Depth; {
	case there && !n.File:
		err = tree.Refuse(tree.Invalid, "path %s: is a directory; only a file has a payload", tree.Quote(f.Path))
	case there && f.New:
		err = tree.Refuse(tree.Taken, "path %s: entity %d is there already", tree.Quote(f.Path), n.Entity)
	case there && f.Expected != 0 && f.Expected != n.Revision:
		err = stale(n, f.Expected)
	case !there && f.Expected != 0, missing > 0 && !f.Parents:
		err = tree.Absent(f.Path, f.Names, at.Depth)
	case missing > f.MaxParents:
		err = tree.Refuse(tree.Invalid, "path %s: %d directories are missing, at most %d fit in one commit", tree.Quote(f.Path), missing, f.MaxParents)
	}
	return at, err
}

// Put plans a file and the directories that lead to it, and returns its node as
// it will be, but for the revision of one that changes. The caller publishes the
// payload in the same write, after Put.
func (p *Plan) Put(f *File) (catalog.Node, error) {
	at, err := f.place(&p.tx.View)
	if err != nil {
		return catalog.Node{}, err
	}
	n := at.Node
	if at.Depth == len(f.Names) {
		if n.Digest != f.Digest {
			n.Digest, n.Size = f.Digest, f.Size
			p.add(catalog.Digest(n.Entity, catalog.AttributeDigest, f.Digest))
		}
		if _, err := p.describeNode(n.Entity, f.Attributes, f.Speaks); err != nil {
			return n, err
		}
		old, err := p.written(n.Entity, f)
		if err != nil {
			return n, err
		}
		return n, p.replace(n.Entity, old, f.Changes)
	}
	for _, name := range f.Names[at.Depth : len(f.Names)-1] {
		n = catalog.Node{Parent: n.Entity, Name: name}
		p.makeNode(&n)
	}
	n = catalog.Node{Parent: n.Entity, Name: f.Names[len(f.Names)-1], File: true, Digest: f.Digest, Size: f.Size}
	p.makeNode(&n)
	if f.Attributes != nil {
		p.add(catalog.Raw(n.Entity, attributes.NameFile, f.Attributes))
	}
	return n, p.replace(n.Entity, nil, f.Changes)
}

// written reads the attributes of an entity, if the file has any to compare.
func (p *Plan) written(entity int64, f *File) ([]dust.Member, error) {
	if len(f.Changes) == 0 {
		return nil, nil
	}
	return tree.Attributes(&p.tx.View, entity)
}

// replace plans the attributes of a node.
func (p *Plan) replace(entity int64, old []dust.Member, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	now := make(map[string]dust.Value, len(old)+len(changes))
	for _, m := range old {
		now[m.Name] = m.Value
	}
	for i := range changes {
		c := &changes[i]
		before, existed := now[c.Name]
		switch null := c.Value.Kind() == dust.Null; {
		case null && existed:
			delete(now, c.Name)
			p.add(catalog.Retract(entity, c.Name))
		case !null && !(existed && dust.Equal(before, c.Value)):
			now[c.Name] = c.Value
			p.add(catalog.Raw(entity, c.Name, dust.AppendJSON(nil, c.Value)))
		}
	}
	return checkSize(now)
}
