package stardust

import (
	"fmt"
	"iter"
	"strings"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// A listing reads records from the catalog a page at a time: few at first, since
// many callers look at the first ones only.
const (
	firstPage = 32
	listPage  = 1024
)

// List yields the records of a directory's children in name order, in bounded
// memory however many there are. All of them are of one revision, that of the
// first step, whatever is written meanwhile. An error, of the kinds of
// [Objects.Children], ends it.
func (v Objects) List(parent int64) iter.Seq2[Record, error] { return v.ListAfter(parent, "") }

// ListAfter is [Objects.List] from the first name on that is greater than after,
// by bytes. It costs no more than what is read of it.
func (v Objects) ListAfter(parent int64, after string) iter.Seq2[Record, error] {
	const op = "objects.children"
	return func(yield func(Record, error) bool) {
		if err := checkParent("parent", parent); err != nil {
			yield(Record{}, withOp(op, err))
			return
		}
		pinned, err := v.pin()
		if err != nil {
			yield(Record{}, withOp(op, err))
			return
		}
		for at, size := after, firstPage; ; size = listPage {
			page, err := pinned.page(parent, at, size, size == firstPage)
			if err != nil {
				yield(Record{}, withOp(op, err))
				return
			}
			for i := range page {
				if !yield(newRecord(&page[i]), nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			at = page[len(page)-1].Name
		}
	}
}

// pin returns the same operations at a fixed revision.
func (v Objects) pin() (Objects, error) {
	if v.at != catalog.Live {
		return v, v.enabled()
	}
	err := v.readOne(func(view *catalog.View) (err error) {
		v.at, err = view.LastRevision()
		return err
	})
	return v, err
}

// page reads up to size children after a name.
func (v Objects) page(parent int64, after string, size int, first bool) (page []catalog.Node, err error) {
	err = v.read(func(view *catalog.View) error {
		if first {
			if err := tree.Directory(view, "parent", parent); err != nil {
				return err
			}
		}
		return view.Children(parent, after, func(n *catalog.Node) bool {
			page = append(page, *n)
			return len(page) < size
		})
	})
	return page, err
}

// Resolve returns the record of the node at a path of names divided by "/",
// from the root; leading and doubled slashes don't matter. The path of the root
// returns a record with entity 0, no name and kind directory.
//
// It returns StatusNotFound, naming the first part that does not exist, and
// StatusInvalidArgument when a part that is not the last is a file, or is not a
// name.
func (v Objects) Resolve(path string) (Record, error) {
	const op = "objects.lookup"
	at := Record{Kind: KindDirectory}
	err := v.read(func(view *catalog.View) error {
		walked := ""
		for name := range strings.SplitSeq(path, "/") {
			if name == "" {
				continue
			}
			if err := tree.CheckName(name); err != nil {
				return tree.Within(fmt.Sprintf("path %s", tree.Quote(path)), err)
			}
			if at.Kind == KindFile {
				return invalid("path %s: %s is a file, not a directory", tree.Quote(path), tree.Quote(walked))
			}
			n, found, err := view.Child(at.Entity, name)
			if err != nil {
				return err
			}
			walked += "/" + name
			if !found && strings.Trim(path, "/") == walked[1:] {
				return notFound("%s does not exist", tree.Quote(walked))
			}
			if !found {
				return notFound("path %s: %s does not exist", tree.Quote(path), tree.Quote(walked))
			}
			at = newRecord(&n)
		}
		return nil
	})
	if err != nil {
		return Record{}, withOp(op, err)
	}
	return at, nil
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
// width of the tree matters. An error, of the kinds of [Objects.Get] and
// [Objects.Children], ends it.
func (v Objects) Walk(entity int64) iter.Seq2[Entry, error] {
	const op = "objects.walk"
	return func(yield func(Entry, error) bool) {
		pinned, err := v.pin()
		if err != nil {
			yield(Entry{}, withOp(op, err))
			return
		}
		start := Record{Kind: KindDirectory}
		if entity != catalog.Root {
			if start, err = pinned.Record(entity); err != nil {
				yield(Entry{}, withOp(op, err))
				return
			}
		}
		if !yield(Entry{"", start}, nil) || start.Kind == KindFile {
			return
		}
		w := walker{objects: pinned}
		w.enter(start.Entity)
		for {
			entry, more, err := w.step()
			if err != nil {
				yield(Entry{}, withOp(op, err))
				return
			}
			if !more || !yield(entry, nil) {
				return
			}
		}
	}
}

// walker is the state of a walk: the directories that it stands in.
type walker struct {
	objects Objects
	stack   []*level
	path    []byte
}

// level is a directory of the walk, with what was read of its children.
type level struct {
	entity int64
	prefix int // length of the directory's own path
	page   []catalog.Node
	next   int
	after  string
	last   bool // page is the last one
}

func (w *walker) enter(entity int64) {
	w.stack = append(w.stack, &level{entity: entity, prefix: len(w.path)})
}

// step returns the next node, or false at the end.
func (w *walker) step() (Entry, bool, error) {
	for len(w.stack) > 0 {
		top := w.stack[len(w.stack)-1]
		if top.next == len(top.page) {
			if top.last {
				w.stack = w.stack[:len(w.stack)-1]
				continue
			}
			size := listPage
			if top.after == "" {
				size = firstPage
			}
			page, err := w.objects.page(top.entity, top.after, size, false)
			if err != nil {
				return Entry{}, false, err
			}
			top.page, top.next, top.last = page, 0, len(page) < size
			continue
		}
		n := &top.page[top.next]
		top.next++
		top.after = n.Name
		w.path = w.path[:top.prefix]
		if len(w.path) > 0 {
			w.path = append(w.path, '/')
		}
		w.path = append(w.path, n.Name...)
		entry := Entry{string(w.path), newRecord(n)}
		if !n.File {
			w.enter(n.Entity)
		}
		return entry, true, nil
	}
	return Entry{}, false, nil
}
