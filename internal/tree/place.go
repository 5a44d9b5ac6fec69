package tree

import (
	"strings"

	"github.com/stardustdb/stardust/internal/catalog"
)

// SplitPath returns the names of a path, which "/" divides; leading and doubled
// ones don't matter. The root's path has none. It returns a Refusal for what is
// not a name.
func SplitPath(path string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		if err := CheckName(name); err != nil {
			return nil, Within("path "+Quote(path), err)
		}
		names = append(names, name)
	}
	return names, nil
}

// Place is how far a path leads into the tree.
type Place struct {
	// Node is what the last of the path's names that exist names; the zero
	// Node is the root.
	Node catalog.Node
	// Depth is how many of the names exist.
	Depth int
}

// Find follows the names of a path, as SplitPath returns them, from the root as
// far as they exist. It refuses a path that leads through a file.
func Find(v *catalog.View, path string, names []string) (Place, error) {
	var at Place
	for _, name := range names {
		if at.Node.File {
			return at, Refuse(Invalid, "path %s: %s is a file, not a directory", Quote(path), join(names[:at.Depth]))
		}
		n, found, err := v.Child(at.Node.Entity, name)
		if err != nil || !found {
			return at, err
		}
		at.Node = n
		at.Depth++
	}
	return at, nil
}

// Absent refuses a path of which only depth names exist.
func Absent(path string, names []string, depth int) error {
	if depth+1 == len(names) {
		return Refuse(Missing, "%s does not exist", join(names))
	}
	return Refuse(Missing, "path %s: %s does not exist", Quote(path), join(names[:depth+1]))
}

func join(names []string) string { return Quote("/" + strings.Join(names, "/")) }
