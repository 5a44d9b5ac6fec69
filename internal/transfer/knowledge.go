package transfer

import (
	"context"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/internal/transfer/fileindex"
)

// knowledge is what is known of one directory before it is listed: what an
// earlier import saw in it, and what the tree has of it now. It is empty for a
// new directory, or if nothing was asked for.
type knowledge struct {
	im    *importer
	place *pending
	// entries are what the index has, in the order of the names; seen and same
	// say of each whether the directory still lists it, and whether it is as
	// it was. Next is where the next name is expected.
	entries    []fileindex.Entry
	seen, same []bool
	next       int
	complete   bool
	// children are what the tree has that was not seen, when it was read.
	children map[string]Child
	read     bool
	// kept are names that were seen and not looked at.
	now map[string]Child
}

// knowledge returns what is known of a directory.
func (im *importer) knowledge(ctx context.Context, at *pending) (*knowledge, error) {
	k := &knowledge{im: im, place: at}
	if at.fresh || !at.there {
		return k, nil
	}
	k.entries, k.complete = im.index.reader.Directory(at.path)
	k.complete = k.complete && im.index.exact
	n := len(k.entries)
	im.known = slices.Grow(im.known[:0], 2*n)[:2*n]
	clear(im.known)
	k.seen, k.same = im.known[:n:n], im.known[n:]
	if im.index.reader != nil && !im.index.exact && len(k.entries) > 0 || im.o.Delete && !k.complete {
		k.read = true
		k.children, k.now = make(map[string]Child), make(map[string]Child)
		for child, err := range im.to.Children(ctx, at.entity) {
			if err != nil {
				return nil, err
			}
			k.children[child.Name] = child
		}
	}
	return k, nil
}

// see notes that the directory lists a name.
func (k *knowledge) see(name string) {
	if i := k.find(name); i >= 0 {
		k.seen[i] = true
	}
	if child, ok := k.children[name]; ok {
		k.now[name] = child
		delete(k.children, name)
	}
}

// keep notes that a name is left as it is in the tree.
func (k *knowledge) keep(name string) {
	if i := k.find(name); i >= 0 {
		k.same[i] = true
	}
}

// find returns where a name is among the entries, or -1.
func (k *knowledge) find(name string) int {
	if k.next < len(k.entries) && k.entries[k.next].Name == name {
		return k.next
	}
	if k.next > 0 && k.next <= len(k.entries) && k.entries[k.next-1].Name == name {
		return k.next - 1
	}
	i, found := slices.BinarySearchFunc(k.entries, name, func(e fileindex.Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !found {
		return -1
	}
	k.next = i
	return i
}

// trusted returns the index's entry of a name when the tree still has the node
// that it tells of, or -1.
func (k *knowledge) trusted(name string) int {
	i := k.find(name)
	if i < 0 {
		return -1
	}
	k.next = i + 1
	if k.im.index.exact {
		return i
	}
	e := &k.entries[i]
	node, ok := k.now[name]
	if !ok || node.Entity != e.Entity || node.Revision != e.Revision || node.File != (e.Kind != fileindex.Directory) {
		return -1
	}
	return i
}

// unchanged reports whether a file need not be looked at further.
func (k *knowledge) unchanged(e *listed) bool {
	i := k.trusted(e.name)
	if i < 0 || !e.stat.unchanged(&k.entries[i]) {
		return false
	}
	k.same[i] = true
	return true
}

// directory returns the tree's directory of an item, whether there is one,
// whether there is none, and whether it is known to be as it was.
func (k *knowledge) directory(ctx context.Context, item *Item) (entity int64, there, fresh, same bool, err error) {
	if i := k.trusted(item.Name); i >= 0 && k.entries[i].Kind == fileindex.Directory {
		k.same[i] = item.stat.sameDirectory(&k.entries[i])
		return k.entries[i].Entity, true, false, k.same[i], nil
	}
	switch {
	case k.place.fresh:
		return 0, false, true, false, nil
	case k.read:
		child, ok := k.now[item.Name]
		return child.Entity, ok && !child.File, !ok || child.File, false, nil
	case k.place.there && (k.im.index.reader != nil || k.im.o.Delete):
		child, ok, err := k.im.to.Child(ctx, k.place.entity, item.Name)
		return child.Entity, ok && !child.File, !ok || child.File, false, err
	}
	return 0, false, false, false, nil
}

// listed is called when a directory was listed, whole or in part: it writes down
// what stays as it was, and finds what is gone.
func (im *importer) listed(at *pending, k *knowledge, whole bool) {
	if im.o.Delete && whole {
		for i := range k.entries {
			if e := &k.entries[i]; k.complete && !k.seen[i] {
				im.vanished(at, Child{Name: e.Name, Entity: e.Entity, File: e.Kind != fileindex.Directory})
			}
		}
		for _, child := range k.children {
			im.vanished(at, child)
		}
	}
	w := im.index.writer
	if w == nil {
		return
	}
	if !slices.Contains(k.same, false) && len(k.entries) > 0 {
		w.Keep(at.path)
	} else {
		kept := make([]fileindex.Entry, 0, len(k.entries))
		for i := range k.entries {
			if k.same[i] {
				kept = append(kept, k.entries[i])
			}
		}
		w.Add(at.path, kept)
	}
	w.SetComplete(at.path, im.o.Delete && whole)
}
