package stardust

import (
	"iter"
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// Resolve returns the record of the node at a path of names divided by "/",
// from the root; leading and doubled slashes don't matter. The path of the root
// returns a record with entity 0, no name and kind directory.
//
// It returns StatusNotFound, naming the first part that does not exist, and
// StatusInvalidArgument when a part that is not the last is a file, or is not a
// name.
func (v Tree) Resolve(path string) (Record, error) {
	const op = "objects.lookup"
	r := Record{Kind: KindDirectory}
	err := v.read(func(view *catalog.View) error {
		names, err := tree.SplitPath(path)
		if err != nil {
			return err
		}
		at, err := tree.Find(view, path, names)
		if err != nil {
			return err
		}
		if at.Depth < len(names) {
			return tree.Absent(path, names, at.Depth)
		}
		if at.Depth > 0 {
			r = newRecord(&at.Node)
		}
		return nil
	})
	if err != nil {
		return Record{}, withOp(op, err)
	}
	return r, nil
}

// Entry is one step of a walk.
type Entry struct {
	// Path is the node's path from where the walk began, names divided by
	// "/"; empty for the beginning itself.
	Path   string
	Record Record
}

// Walk yields the node of an entity and everything beneath it, a directory
// before its children, children in name order, all of one revision. It keeps
// one page of records a level and never recurses, so neither the depth nor the
// width of the tree matters. Errors are those of [Tree.Get] and
// [Tree.Children]. One of StatusEvaluationFailed comes with the path of what is
// damaged, or of the directory that lacks something, and the walk goes on after
// it if the caller does; a directory with damage is read into memory. Any other
// error ends it.
func (v Tree) Walk(entity int64) iter.Seq2[Entry, error] {
	const op = "objects.walk"
	return func(yield func(Entry, error) bool) {
		pinned, err := v.pin()
		if err != nil {
			yield(Entry{}, withOp(op, err))
			return
		}
		start := Record{Kind: KindDirectory}
		if entity != catalog.Root {
			if start, err = pinned.Get(entity); err != nil {
				yield(Entry{}, withOp(op, err))
				return
			}
		}
		if !yield(Entry{"", start}, nil) || start.Kind == KindFile {
			return
		}
		w := walker{tree: pinned}
		w.enter(start.Entity)
		for {
			entry, more, err := w.step()
			if err != nil {
				err = withOp(op, err)
			}
			if !more && err == nil || !yield(entry, err) || !more {
				return
			}
		}
	}
}

// walker is the state of a walk: the directories that it stands in.
type walker struct {
	tree  Tree
	stack []*level
	path  []byte
}

// level is a directory of the walk, with what was read of its children.
type level struct {
	entity int64
	prefix int // length of the directory's own path
	page   []catalog.Node
	next   int
	after  string
	last   bool // page is the last one
	lost   []catalog.LostChild
}

func (w *walker) enter(entity int64) {
	w.stack = append(w.stack, &level{entity: entity, prefix: len(w.path)})
}

// step returns the next node, or false at the end. With an error, true says
// that there is more after what is damaged.
func (w *walker) step() (Entry, bool, error) {
	for len(w.stack) > 0 {
		top := w.stack[len(w.stack)-1]
		if len(top.lost) > 0 {
			lost := top.lost[0]
			top.lost = top.lost[1:]
			w.lead(top, lost.Name)
			return Entry{Path: string(w.path)}, true, lost.Err
		}
		if top.next == len(top.page) {
			if top.last {
				w.stack = w.stack[:len(w.stack)-1]
				continue
			}
			size := listPage
			if top.after == "" {
				size = firstPage
			}
			page, err := w.tree.page(top.entity, top.after, size, false, nil)
			if payload.IsDamage(err) {
				if err = w.around(top); err == nil {
					continue
				}
			}
			if err != nil {
				return Entry{}, false, err
			}
			top.page, top.next, top.last = page, 0, len(page) < size
			continue
		}
		n := &top.page[top.next]
		top.next++
		top.after = n.Name
		w.lead(top, n.Name)
		entry := Entry{string(w.path), newRecord(n)}
		if !n.File {
			w.enter(n.Entity)
		}
		return entry, true, nil
	}
	return Entry{}, false, nil
}

// lead sets the path to a child of a directory, or to the directory itself.
func (w *walker) lead(in *level, name string) {
	w.path = w.path[:in.prefix]
	if len(w.path) > 0 && name != "" {
		w.path = append(w.path, '/')
	}
	w.path = append(w.path, name...)
}

// around reads the rest of a directory that is damaged.
func (w *walker) around(in *level) error {
	return w.tree.read(func(view *catalog.View) error {
		children, lost, err := view.ChildrenAround(in.entity)
		if err != nil {
			return err
		}
		seen := func(name string) bool { return in.after != "" && name <= in.after }
		in.page = slices.DeleteFunc(children, func(n catalog.Node) bool { return seen(n.Name) })
		in.lost = slices.DeleteFunc(lost, func(l catalog.LostChild) bool { return l.Name != "" && seen(l.Name) })
		in.next, in.last = 0, true
		return nil
	})
}
