package tree

import (
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

// Node returns the node of an entity, or refuses with Missing.
func Node(v *catalog.View, entity int64) (catalog.Node, error) {
	n, found, err := v.Node(entity)
	if err == nil && !found {
		err = Refuse(Missing, "entity %d: no file or directory has it", entity)
	}
	return n, err
}

// Directory checks that an entity is a directory, as the root is. The member is
// the request's word for it, such as "parent".
func Directory(v *catalog.View, member string, entity int64) error {
	if entity == catalog.Root {
		return nil
	}
	n, found, err := v.Node(entity)
	switch {
	case err != nil:
		return err
	case !found:
		return Refuse(Missing, "%s %d: no directory has this entity", member, entity)
	case n.File:
		return Refuse(Invalid, "%s %d: is the file %s, not a directory", member, entity, Quote(n.Name))
	}
	return nil
}

// Payload returns the published payload of a digest, or refuses with
// Unpublished. The member is the request's word for the digest.
func Payload(v *catalog.View, member string, d digest.Digest) (catalog.Payload, error) {
	p, found, err := v.Payload(d)
	if err == nil && !found {
		err = Refuse(Unpublished, "%s: no payload %v is published; upload it first", member, d)
	}
	return p, err
}

// Path returns the names from the root to a node. The root's path is empty.
func Path(v *catalog.View, entity int64) ([]string, error) {
	if entity == catalog.Root {
		return nil, nil
	}
	n, err := Node(v, entity)
	if err != nil {
		return nil, err
	}
	names := []string{n.Name}
	err = Climb(v, n.Parent, func(n *catalog.Node) error {
		names = append(names, n.Name)
		return nil
	})
	slices.Reverse(names)
	return names, err
}

// Climb calls fn with a directory and its ancestors, up to but without the
// root, until fn returns an error, which it returns. Stored parents that go
// round in a circle are damage; one that does not exist is Missing, as the
// objects spec has it for Path.
func Climb(v *catalog.View, directory int64, fn func(*catalog.Node) error) error {
	// The node seen at the last power of two of steps (Brent): a circle comes
	// back to it.
	var mark int64
	steps, limit := 0, 0
	for at := directory; at != catalog.Root; steps++ {
		n, found, err := v.Node(at)
		switch {
		case err != nil:
			return err
		case !found:
			return Refuse(Missing, "entity %d: does not exist, but is named as a parent", at)
		case n.File:
			return corrupt("entity %d is named as a parent but is a file", at)
		case at == mark && steps > 0:
			return corrupt("entity %d is its own ancestor", at)
		}
		if steps == limit {
			mark, limit, steps = at, 2*limit+1, 0
		}
		if err := fn(&n); err != nil {
			return err
		}
		at = n.Parent
	}
	return nil
}
