package stardust

import (
	"iter"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// Get returns the record of a file or directory.
//
// It returns StatusInvalidArgument when the entity is not a user entity, such as
// the root's, and StatusNotFound when no node has it.
func (v Tree) Get(entity int64) (Record, error) {
	const op = "objects.get"
	if err := v.enabled(); err != nil {
		return Record{}, withOp(op, err)
	}
	if err := checkEntity("entity", entity); err != nil {
		return Record{}, withOp(op, err)
	}
	var r Record
	err := v.readOne(func(view *catalog.View) error {
		n, err := tree.Node(view, entity)
		r = newRecord(&n)
		return err
	})
	if err != nil {
		return Record{}, withOp(op, err)
	}
	return r, nil
}

// Lookup returns the record of a directory's child by name.
//
// It returns StatusInvalidArgument when the parent or the name is invalid or
// the parent is a file, and StatusNotFound when there is no such child or the
// parent does not exist.
func (v Tree) Lookup(parent int64, name string) (Record, error) {
	const op = "objects.lookup"
	if err := v.enabled(); err != nil {
		return Record{}, withOp(op, err)
	}
	if err := checkParent("parent", parent); err != nil {
		return Record{}, withOp(op, err)
	}
	if err := tree.CheckName(name); err != nil {
		return Record{}, withOp(op, err)
	}
	var n catalog.Node
	found := false
	err := v.readOne(func(view *catalog.View) (err error) {
		n, found, err = view.Child(parent, name)
		return err
	})
	if err == nil && !found {
		// Find out why, in a snapshot in which the child may have appeared.
		err = v.read(func(view *catalog.View) (err error) {
			if err := tree.Directory(view, "parent", parent); err != nil {
				return err
			}
			n, found, err = view.Child(parent, name)
			if err == nil && !found {
				err = notFound("directory %d has no child %s", parent, tree.Quote(name))
			}
			return err
		})
	}
	if err != nil {
		return Record{}, withOp(op, err)
	}
	return newRecord(&n), nil
}

// A listing reads records from the catalog a page at a time: few at first, since
// many callers look at the first ones only.
const (
	firstPage = 32
	listPage  = 1024
)

// Children yields the records of a directory's children in name order, in
// bounded memory however many there are. All are of the revision of the first
// step, whatever is written meanwhile.
//
// An error ends it: of StatusInvalidArgument when the parent is invalid or a
// file, of StatusNotFound when it does not exist.
func (v Tree) Children(parent int64) iter.Seq2[Record, error] { return v.ChildrenAfter(parent, "") }

// ChildrenAfter is [Tree.Children] from the first name greater than after, by
// bytes. It costs no more than what is read of it.
func (v Tree) ChildrenAfter(parent int64, after string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for page, err := range v.pages(parent, after, nil) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			for i := range page {
				if !yield(newRecord(&page[i]), nil) {
					return
				}
			}
		}
	}
}

// pin returns the same operations at a fixed revision.
func (v Tree) pin() (Tree, error) {
	if v.at != catalog.Live {
		return v, v.enabled()
	}
	err := v.readOne(func(view *catalog.View) (err error) {
		v.at, err = view.LastRevision()
		return err
	})
	return v, err
}

// Path returns the names from the root to a node. The root's path is empty.
//
// It returns StatusInvalidArgument when the entity is not a user entity, and
// StatusNotFound when the node or one of its ancestors does not exist.
func (v Tree) Path(entity int64) ([]string, error) {
	const op = "objects.path"
	if err := v.enabled(); err != nil {
		return nil, withOp(op, err)
	}
	if err := checkParent("entity", entity); err != nil {
		return nil, withOp(op, err)
	}
	var names []string
	err := v.read(func(view *catalog.View) (err error) {
		names, err = tree.Path(view, entity)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return names, nil
}

// Files returns the entities of the files that hold a payload, ascending. There
// are none when no such payload is published.
func (v Tree) Files(digest Digest) ([]int64, error) {
	var entities []int64
	err := v.read(func(view *catalog.View) error {
		p, found, err := view.Payload(digest)
		if err != nil || !found {
			return err
		}
		return view.Files(p.ID, 0, func(entity int64) bool {
			entities = append(entities, entity)
			return true
		})
	})
	if err != nil {
		return nil, withOp("objects.files", err)
	}
	return entities, nil
}

func checkEntity(member string, entity int64) error {
	if entity <= 0 {
		return invalid("%s: %d is not a user entity; they begin at 1", member, entity)
	}
	return nil
}

func checkParent(member string, entity int64) error {
	if entity < 0 {
		return invalid("%s: %d is not an entity; 0 is the root directory", member, entity)
	}
	return nil
}
