package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/digest"
)

// linkGroup is what the names of one file have in common. A database may claim
// that any files are one: those with other content are not.
type linkGroup struct {
	link   string
	digest digest.Digest
}

// linkedNames are the names of one file: the first is written as any file, and the
// others are made when it is there.
type linkedNames struct {
	first  Node
	there  bool // the first has its content; known once the workers are done
	others []Node
}

// laterLink returns the group of a file with several names, and reports whether
// this name is kept for later.
func (ex *exporter) laterLink(node *Node) (group *linkedNames, later bool) {
	if node.Attributes.Link == "" || ex.options.DryRun {
		return nil, false
	}
	key := linkGroup{node.Attributes.Link, node.Digest}
	group = ex.links[key]
	if group == nil {
		group = &linkedNames{first: *node}
		ex.links[key] = group
		return group, false
	}
	if len(group.others) == 0 {
		ex.linkOrder = append(ex.linkOrder, group)
	}
	group.others = append(group.others, *node)
	return group, true
}

// makeLinks makes the names that were kept for later.
func (ex *exporter) makeLinks(ctx context.Context, top *directory) error {
	path := newChain(top)
	defer path.close()
	for _, group := range ex.linkOrder {
		for i := range group.others {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := ex.makeOther(ctx, path, group, &group.others[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeOther makes one more name of a file. If there can be no link, it writes a
// file of its own.
func (ex *exporter) makeOther(ctx context.Context, path *chain, group *linkedNames, node *Node) error {
	dir, err := path.parent(node.Path)
	if err != nil {
		ex.lost(node, err)
		return nil
	}
	var refused error
	if group.there {
		var outcome Outcome
		if outcome, refused = ex.linkFile(ctx, path.dirs[0].root, dir, group, node); refused == nil {
			ex.update(func(r *Report) { r.Bytes += node.Size })
			_, err = ex.written(ctx, node, outcome, nil)
			return err
		}
	}
	outcome, err := ex.writeFile(ctx, &exportFile{*node, dir, nil})
	if end, err := ex.written(ctx, node, outcome, err); end {
		return err
	}
	switch {
	case outcome == Failed:
	case !group.there:
		group.first, group.there = *node, true
	case outcome != Unchanged:
		ex.failed(node.Path, fmt.Errorf("is there as a file of its own, not as a link to %s: %w", group.first.Path, refused))
	}
	return nil
}

// linkFile makes a name, unless it is one of the file's already.
func (ex *exporter) linkFile(ctx context.Context, top *os.Root, dir *directory, group *linkedNames, node *Node) (Outcome, error) {
	first, err := top.Lstat(group.first.Path)
	if err != nil {
		return Failed, err
	}
	if !first.Mode().IsRegular() {
		return Failed, fmt.Errorf("that is a %s", kindOf(first.Mode()))
	}
	outcome := Created
	info, err := dir.root.Lstat(node.Name)
	switch {
	case err == nil && os.SameFile(first, info):
		return Unchanged, nil
	case err == nil:
		if err := ex.makeWay(ctx, dir, node, info); err != nil {
			return Failed, err
		}
		outcome = Updated
	case !errors.Is(err, fs.ErrNotExist):
		return Failed, err
	}
	return outcome, linkAside(top, group.first.Path, node.Path, dir.root, node.Name)
}

// linkAside makes a link under a temporary name and then gives it its own.
func linkAside(top *os.Root, first, path string, dir *os.Root, name string) error {
	parent := parentOf(path)
	for {
		temporary := temporaryName()
		err := top.Link(first, join(parent, temporary))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			if err = dir.Rename(temporary, name); err != nil {
				err = errors.Join(err, dir.Remove(temporary))
			}
		}
		return err
	}
}
