package transfer

import (
	"cmp"
	"context"
	"slices"
)

// goneNode is a node of the tree that the file system no longer has.
type goneNode struct {
	Gone
	path string
}

// vanished notes a node that the file system no longer has.
func (im *importer) vanished(at *pending, child Child) {
	im.gone = append(im.gone, goneFrom(at.entity, at.path, &child))
}

// goneFrom returns a child that goes from a directory.
func goneFrom(directory int64, path string, child *Child) goneNode {
	return goneNode{
		Gone: Gone{Entity: child.Entity, Parent: directory, Name: child.Name, File: child.File},
		path: join(path, child.Name),
	}
}

// remove takes out of the tree what the file system no longer has, and then
// brings the files whose place was taken.
func (im *importer) remove(ctx context.Context) error {
	for _, item := range im.blocked {
		var beneath []goneNode
		top := goneNode{Gone: Gone{Entity: item.inTheWay}, path: item.path}
		if err := im.children(ctx, &top, &beneath); err != nil {
			return err
		}
		im.gone = append(im.gone, beneath...)
	}
	r := remover{importer: im}
	if err := r.trees(ctx); err != nil {
		return err
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	if im.o.DryRun {
		for _, item := range im.blocked { // nothing was removed, and it would be there
			item.Err, item.Outcome = nil, Created
			im.committed(item)
		}
		return nil
	}
	for len(im.blocked) > 0 {
		n := min(len(im.blocked), batchItems)
		if err := im.commit(ctx, im.blocked[:n], nil); err != nil {
			return err
		}
		im.blocked = im.blocked[n:]
	}
	return nil
}

// children appends what is in a directory of the tree.
func (im *importer) children(ctx context.Context, of *goneNode, to *[]goneNode) error {
	for child, err := range im.to.Children(ctx, of.Entity) {
		if err != nil {
			return err
		}
		*to = append(*to, goneFrom(of.Entity, of.path, &child))
	}
	return nil
}

// remover removes nodes, those further in first, many in a commit.
type remover struct {
	*importer
	batch []goneNode
	// limit, when not zero, is how many it collects, and one more, without
	// removing any.
	limit int
}

// trees removes everything that is gone.
func (r *remover) trees(ctx context.Context) error {
	slices.SortFunc(r.gone, func(a, b goneNode) int { return cmp.Compare(a.path, b.path) })
	for i := range r.gone {
		if err := r.tree(ctx, r.gone[i]); err != nil || r.limit > 0 && len(r.batch) > r.limit {
			return err
		}
	}
	return nil
}

// tree removes a node and all beneath it, without recursion.
func (r *remover) tree(ctx context.Context, top goneNode) error {
	type step struct {
		goneNode
		entered bool
		stays   bool // something in it does
		parent  int
	}
	stack := []step{{goneNode: top, parent: -1}}
	for len(stack) > 0 {
		at := len(stack) - 1
		s := &stack[at]
		if !r.o.DeleteExcluded && r.o.Exclude.Match(s.path, !s.File) {
			s.entered, s.stays = true, true
		}
		if !s.File && !s.entered {
			s.entered = true
			var inside []goneNode
			if err := r.children(ctx, &s.goneNode, &inside); err != nil {
				return err
			}
			for _, child := range inside {
				stack = append(stack, step{goneNode: child, parent: at})
			}
			continue
		}
		if s.stays {
			if s.parent >= 0 {
				stack[s.parent].stays = true
			}
		} else {
			r.batch = append(r.batch, s.goneNode)
		}
		stack = stack[:at]
		if r.limit > 0 {
			if len(r.batch) > r.limit {
				return nil
			}
		} else if len(r.batch) >= batchItems {
			if err := r.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush commits the removals.
func (r *remover) flush(ctx context.Context) error {
	if len(r.batch) == 0 {
		return nil
	}
	gone := r.nodes()
	if err := r.to.Remove(ctx, gone); err != nil {
		return err
	}
	r.report(gone)
	r.batch = r.batch[:0]
	return nil
}

// nodes are those that are to be removed.
func (r *remover) nodes() []Gone {
	gone := make([]Gone, len(r.batch))
	for i := range r.batch {
		gone[i] = r.batch[i].Gone
	}
	return gone
}

// report says what became of them.
func (r *remover) report(gone []Gone) {
	for i := range gone {
		path := r.batch[i].path
		switch {
		case gone[i].Err != nil:
			r.fail(path, gone[i].Err)
		case gone[i].Removed && !r.left[path]:
			r.update(func(rep *Report) { rep.Removed++ })
			r.changed(Change{Action: ActionRemoved, Path: path, Directory: !gone[i].File})
		}
	}
}

// isGone reports whether a path that was imported before is not in the file
// system any more, so that a file may have moved away from it.
func (im *importer) isGone(path string) bool {
	return im.missing(path) && !im.o.Exclude.MatchAny(path)
}
