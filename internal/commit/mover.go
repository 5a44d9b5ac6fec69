package commit

import (
	"strings"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// moveTries is how many files with a new file's content are tried.
const moveTries = 16

// mover finds those new files that were moved.
type mover struct {
	plan    *Plan
	moves   *Moves
	touched map[int64]bool // nodes that this plan has facts of
	ended   []int64        // nodes that gave way to others
}

// move plans a new file as the move of one that is gone from its place, and
// reports whether there is one. Empty files are all alike, so none moves.
func (m *mover) move(item *Item, parent int64) (bool, error) {
	if m.moves == nil {
		return false, nil
	}
	payload, found, err := m.plan.tx.Payload(item.Digest)
	if err != nil || !found || payload.Size == 0 {
		return false, err
	}
	var files []int64
	err = m.plan.tx.Files(payload.ID, 0, func(entity int64) bool {
		files = append(files, entity)
		return len(files) < moveTries
	})
	if err != nil {
		return false, err
	}
	for _, entity := range files {
		if m.touched[entity] {
			continue
		}
		path, inside, err := m.path(entity)
		if err != nil {
			return false, err
		}
		if inside && m.moves.Gone(path) {
			item.From = path
			return true, m.take(item, entity, parent)
		}
	}
	return false, nil
}

// path returns the path of a file from the import's directory, and whether it
// lies beneath it.
func (m *mover) path(entity int64) (path string, inside bool, err error) {
	n, err := tree.Node(&m.plan.tx.View, entity)
	if err != nil {
		return "", false, err
	}
	names := []string{n.Name}
	err = tree.Climb(&m.plan.tx.View, n.Parent, func(n *catalog.Node) error {
		if inside = inside || n.Entity == m.moves.Into; !inside {
			names = append(names, n.Name)
		}
		return nil
	})
	inside = inside || m.moves.Into == catalog.Root
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, "/"), inside, err
}

// take plans the move itself.
func (m *mover) take(item *Item, entity, parent int64) error {
	n, err := tree.Node(&m.plan.tx.View, entity)
	if err != nil {
		return err
	}
	m.touched[entity] = true
	if n.Parent != parent {
		m.plan.add(catalog.Int64(entity, catalog.AttributeParent, parent))
	}
	if n.Name != item.Name {
		m.plan.add(catalog.String(entity, catalog.AttributeName, item.Name))
	}
	item.Entity, item.Revision, item.Outcome = entity, n.Revision, Moved
	return m.plan.describe(item)
}
