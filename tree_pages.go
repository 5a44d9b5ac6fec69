package stardust

import (
	"iter"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// Described is a child of a directory with what is kept of it as a file.
type Described struct {
	Record
	// File is what [Tree.FileAttributes] returns, without Xattrs.
	File FileAttributes
}

// DescribedChildren is [Tree.Children] with the attributes of each child, for less
// than to ask for them one by one.
func (v Tree) DescribedChildren(parent int64) iter.Seq2[Described, error] {
	return func(yield func(Described, error) bool) {
		var files []FileAttributes
		describe := func(view *catalog.View, page []catalog.Node) error {
			files = files[:0]
			for i := range page {
				kept, err := keptFile(view, page[i].Entity)
				if err != nil {
					return err
				}
				kept.Xattrs = nil // which may be large
				files = append(files, newFileAttributes(&kept))
			}
			return nil
		}
		for page, err := range v.pages(parent, "", describe) {
			if err != nil {
				yield(Described{}, err)
				return
			}
			for i := range page {
				if !yield(Described{newRecord(&page[i]), files[i]}, nil) {
					return
				}
			}
		}
	}
}

// pages yields the nodes of a directory's children a page at a time. describe, when
// not nil, sees each page within the read that it comes from.
func (v Tree) pages(parent int64, after string, describe func(*catalog.View, []catalog.Node) error) iter.Seq2[[]catalog.Node, error] {
	const op = "objects.children"
	return func(yield func([]catalog.Node, error) bool) {
		pinned, err := v.pin()
		if err == nil {
			err = checkParent("parent", parent)
		}
		if err != nil {
			yield(nil, withOp(op, err))
			return
		}
		for at, size := after, firstPage; ; size = listPage {
			page, err := pinned.page(parent, at, size, size == firstPage, describe)
			if err != nil {
				yield(nil, withOp(op, err))
				return
			}
			if !yield(page, nil) || len(page) < size {
				return
			}
			at = page[len(page)-1].Name
		}
	}
}

// page reads up to size children after a name. The first page checks that the
// parent is a directory.
func (v Tree) page(parent int64, after string, size int, first bool, describe func(*catalog.View, []catalog.Node) error) (page []catalog.Node, err error) {
	err = v.read(func(view *catalog.View) error {
		page = nil
		if first {
			if err := tree.Directory(view, "parent", parent); err != nil {
				return err
			}
		}
		err := view.Children(parent, after, func(n *catalog.Node) bool {
			page = append(page, *n)
			return len(page) < size
		})
		if err == nil && describe != nil {
			err = describe(view, page)
		}
		return err
	})
	return page, err
}

// keptFile returns what is kept of an entity as a file: nothing where the attribute
// has another form.
func keptFile(view *catalog.View, entity int64) (f attributes.File, err error) {
	value, err := view.Attribute(entity, attributes.NameFile)
	if value == nil || err != nil {
		return f, err
	}
	if kept, bad := attributes.Decode(value); bad == nil {
		f = kept
	}
	return f, nil
}
