package api

import (
	"context"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
)

// Change is what a commit did to one node.
type Change struct {
	Action string `json:"action" enum:"created,changed,moved,removed,patched" doc:"patched: an attribute other than its name and content."`
	Entity int64  `json:"entity"`
	Kind   string `json:"kind" enum:"file,directory"`
	Path   string `json:"path" doc:"After the commit; of what was removed, before it. It begins with a slash."`
	From   string `json:"from,omitempty" doc:"Of what was moved: its path before."`
	Size   int64  `json:"size,omitempty" doc:"A file's size in bytes."`
}

// Commit is what one transaction did, by path.
type Commit struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time" doc:"By the clock of who committed it; nothing is ordered by it."`
	Changes  []Change  `json:"changes"`
	More     int       `json:"more,omitempty" doc:"How many changes are left out."`
}

// maxChanges bounds how many changes of a commit are listed.
const maxChanges = 200

// tellChanges returns what a transaction did beneath a path of the tree, with
// paths that begin there. ok reports whether it did anything there.
func (h *Handler) tellChanges(ctx context.Context, t *stardust.Transaction, root string) (c Commit, ok bool, err error) {
	c = Commit{Revision: t.ID, Time: t.Time.UTC(), Changes: []Change{}}
	old, now, err := h.around(ctx, t)
	if err != nil {
		return c, false, err
	}
	before, after := newPaths(old), newPaths(now)
	seen := make(map[int64]bool)
	for i := range t.Facts {
		entity := t.Facts[i].Entity
		if seen[entity] {
			continue
		}
		seen[entity] = true
		if root == "" && len(c.Changes) == maxChanges {
			c.More++ // all are beneath the root: there is no need to look
			continue
		}
		change, there, err := compare(before, after, entity, root)
		switch {
		case err != nil:
			return c, false, err
		case !there:
		case len(c.Changes) == maxChanges:
			c.More++
		default:
			c.Changes = append(c.Changes, change)
		}
	}
	return c, len(c.Changes) > 0, nil
}

// around returns the trees that a transaction found and left, as far as they were
// not forgotten.
func (h *Handler) around(ctx context.Context, t *stardust.Transaction) (before, after stardust.Tree, err error) {
	old, err := h.db.KeptBefore(t.ID)
	if err != nil {
		return before, after, err
	}
	now, err := h.db.KeptFrom(t.ID)
	return old.Tree().WithContext(ctx), now.Tree().WithContext(ctx), err
}

// compare says what became of a node.
func compare(before, after *paths, entity int64, root string) (c Change, there bool, err error) {
	old, oldPath, err := before.find(entity)
	if err != nil {
		return c, false, err
	}
	now, path, err := after.find(entity)
	if err != nil {
		return c, false, err
	}
	oldPath, wasIn := beneath(oldPath, root)
	path, isIn := beneath(path, root)
	wasIn, isIn = wasIn && old != nil, isIn && now != nil
	shown := now
	c = Change{Entity: entity, Path: path}
	switch {
	case !wasIn && !isIn:
		return c, false, nil
	case !wasIn: // or moved in from where the reader may not look
		c.Action = "created"
	case !isIn:
		c.Action, c.Path, shown = "removed", oldPath, old
	case oldPath != path:
		c.Action, c.From = "moved", oldPath
	case old.Digest != now.Digest:
		c.Action = "changed"
	default:
		c.Action = "patched"
	}
	c.Kind, c.Size = string(shown.Kind), shown.Size
	return c, true, nil
}

// beneath returns the part of a path beneath a root, and whether it lies there.
func beneath(path, root string) (string, bool) {
	if root == "" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, "/"+root)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return rest, true
}

// paths finds nodes and their paths at one revision, and remembers those of
// directories.
type paths struct {
	tree  stardust.Tree
	known map[int64]string
}

func newPaths(tree stardust.Tree) *paths {
	return &paths{tree, map[int64]string{0: ""}}
}

// find returns a node, nil when there is none, and its path.
func (p *paths) find(entity int64) (*stardust.Record, string, error) {
	record, err := p.tree.Get(entity)
	if isNotFound(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	parent, ok := p.known[record.Parent]
	if !ok {
		names, err := p.tree.Path(record.Parent)
		if err != nil {
			return nil, "", err
		}
		parent = "/" + strings.Join(names, "/")
		p.known[record.Parent] = parent
	}
	return &record, parent + "/" + record.Name, nil
}
