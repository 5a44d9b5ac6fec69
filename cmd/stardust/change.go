package main

import (
	"strings"

	"github.com/stardustdb/stardust"
)

// What may have happened to a node.
const (
	actionCreated = "created"
	actionRemoved = "removed"
	actionMoved   = "moved"
	actionChanged = "changed"
	actionPatched = "patched"
)

// mark returns the sign that stands for an action before a path.
func mark(action string) string {
	switch action {
	case actionCreated:
		return "+"
	case actionRemoved:
		return "-"
	case actionMoved:
		return ">"
	case actionChanged:
		return "~"
	}
	return "="
}

// The attributes of the tree; see the objects spec, "Files and directories".
const (
	attributeParent = "stardust/object/parent"
	attributeName   = "stardust/object/name"
	attributeDigest = "stardust/object/digest"
)

// change is what a transaction did to one node.
type change struct {
	Action string              `json:"action"`
	Entity int64               `json:"entity"`
	Path   string              `json:"path"`
	Kind   stardust.RecordKind `json:"kind"`
}

// changesOf reads from a transaction's facts what it did, in the order of the
// facts. Paths are not looked up yet.
func changesOf(t *stardust.Transaction) []change {
	var changes []change
	at := make(map[int64]int)
	for i := range t.Facts {
		f := &t.Facts[i]
		if f.Entity == 0 {
			continue // of the database as a whole
		}
		j, seen := at[f.Entity]
		if !seen {
			j = len(changes)
			at[f.Entity] = j
			changes = append(changes, change{Entity: f.Entity, Action: actionPatched})
		}
		changes[j].Action = stronger(changes[j].Action, actionOf(f))
	}
	// A commit takes the ids of its new nodes first and then its own, so they
	// are those right before it.
	for id := t.ID - 1; ; id-- {
		j, touched := at[id]
		if !touched {
			return changes
		}
		if changes[j].Action != actionRemoved {
			changes[j].Action = actionCreated
		}
	}
}

func actionOf(f *stardust.Fact) string {
	switch f.Attribute {
	case attributeParent, attributeName:
		if f.Retracted {
			return actionRemoved
		}
		return actionMoved
	case attributeDigest:
		return actionChanged
	}
	return actionPatched
}

// stronger returns the more telling of two actions.
func stronger(a, b string) string {
	for _, action := range []string{actionRemoved, actionMoved, actionChanged} {
		if a == action || b == action {
			return action
		}
	}
	return a
}

// locate fills in the path and kind that a changed node has after its
// transaction, or had before it when it was removed.
func (c *change) locate(s *session, transaction int64) error {
	look := s.db.KeptFrom
	if c.Action == actionRemoved {
		look = s.db.KeptBefore
	}
	view, err := look(transaction)
	if err != nil {
		return err
	}
	r, err := view.Tree().Get(c.Entity)
	if err != nil {
		return err
	}
	c.Kind = r.Kind
	c.Path, err = pathOf(view.Tree(), c.Entity)
	return err
}

// pathOf returns the absolute path of an entity.
func pathOf(tree stardust.Tree, entity int64) (string, error) {
	names, err := tree.Path(entity)
	var path strings.Builder
	for _, name := range names {
		path.WriteString("/" + name)
	}
	return path.String(), err
}
