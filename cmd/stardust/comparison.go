package main

import (
	"iter"
	"slices"

	"github.com/stardustdb/stardust"
)

// comparison collects what differs between two walks of the same part of the
// tree.
type comparison struct {
	path           string
	removed, added []stardust.Entry
	changed        []difference
}

// merge goes through two walks side by side; both are in the order of
// comparePaths.
func (c *comparison) merge(before, after iter.Seq2[stardust.Entry, error]) error {
	nextOld, stopOld := iter.Pull2(before)
	defer stopOld()
	nextNew, stopNew := iter.Pull2(after)
	defer stopNew()
	old, errOld, moreOld := nextOld()
	now, errNew, moreNew := nextNew()
	for moreOld || moreNew {
		if errOld != nil {
			return errOld
		}
		if errNew != nil {
			return errNew
		}
		order := 0
		switch {
		case !moreNew:
			order = -1
		case !moreOld:
			order = 1
		default:
			order = comparePaths(old.Path, now.Path)
		}
		switch {
		case order < 0:
			c.removed = append(c.removed, old)
		case order > 0:
			c.added = append(c.added, now)
		default:
			c.compare(&old, &now)
		}
		if order <= 0 {
			old, errOld, moreOld = nextOld()
		}
		if order >= 0 {
			now, errNew, moreNew = nextNew()
		}
	}
	return nil
}

// compare looks at two nodes of the same path.
func (c *comparison) compare(old, now *stardust.Entry) {
	if old.Record.Kind != now.Record.Kind {
		c.removed = append(c.removed, *old)
		c.added = append(c.added, *now)
		return
	}
	if old.Record.Digest != now.Record.Digest {
		c.changed = append(c.changed, c.difference(actionChanged, old, now))
	}
}

// result pairs what was removed in one place and added in another, and returns
// everything in the order of the paths.
func (c *comparison) result() []difference {
	positions := make(map[int64]int, len(c.removed))
	for i := range c.removed {
		positions[c.removed[i].Record.Entity] = i
	}
	moved := make([]bool, len(c.removed))
	all := c.changed
	for i := range c.added {
		now := &c.added[i]
		j, paired := positions[now.Record.Entity]
		if !paired {
			all = append(all, c.difference(actionCreated, nil, now))
			continue
		}
		moved[j] = true
		old := &c.removed[j]
		if old.Record.Digest != now.Record.Digest {
			all = append(all, c.difference(actionChanged, old, now))
		}
		// What lies in a moved directory stays in place within it.
		if old.Record.Parent != now.Record.Parent || old.Record.Name != now.Record.Name {
			d := c.difference(actionMoved, old, now)
			d.From = d.Before.Path
			all = append(all, d)
		}
	}
	for i := range c.removed {
		if !moved[i] {
			all = append(all, c.difference(actionRemoved, &c.removed[i], nil))
		}
	}
	slices.SortStableFunc(all, func(a, b difference) int { return comparePaths(a.Path, b.Path) })
	return all
}

func (c *comparison) difference(action string, old, now *stardust.Entry) difference {
	d := difference{Change: action}
	for _, side := range []struct {
		entry *stardust.Entry
		node  **node
	}{{old, &d.Before}, {now, &d.After}} {
		if side.entry != nil {
			n := newNode(join(c.path, side.entry.Path), side.entry.Record)
			*side.node = &n
			d.Path = n.Path
		}
	}
	return d
}
