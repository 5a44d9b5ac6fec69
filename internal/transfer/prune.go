package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// prune removes from the export's directories what the tree does not have in
// them.
func (ex *exporter) prune(ctx context.Context, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	top := newDirectory(root)
	path := newChain(top)
	defer path.close()
	for i := range ex.directories {
		node := &ex.directories[i]
		in := top
		if node.Path != "" {
			if in, err = path.parent(node.Path + "/."); err != nil {
				ex.failed(node.Path, err)
				continue
			}
		}
		if err := ex.pruneOne(ctx, in.root, node); err != nil {
			return err
		}
	}
	return nil
}

// pruneOne removes what one directory holds beyond the tree's.
func (ex *exporter) pruneOne(ctx context.Context, dir *os.Root, node *Node) error {
	known := make(map[string]bool)
	for name, err := range ex.from.Names(ctx, node.Entity) {
		if err != nil {
			return err
		}
		known[name] = true
	}
	names, err := namesIn(dir)
	if err != nil {
		ex.failed(node.Path, err)
		return nil
	}
	for _, name := range names {
		if known[name] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		path := name
		if node.Path != "" {
			path = node.Path + "/" + name
		}
		if err := ex.removeLocal(dir, name); err != nil {
			ex.failed(path, err)
			continue
		}
		ex.update(func(r *Report) { r.Removed++ })
		ex.changed(Change{Action: ActionRemoved, Path: path})
	}
	return nil
}

func namesIn(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	names, err := f.Readdirnames(-1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// removeLocal removes a name of a directory and all beneath it, without following
// links. The database that is exported stays, and so does what leads to it.
func (ex *exporter) removeLocal(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if ex.from.Owns(info) {
		return fmt.Errorf("%s is the database that is exported; it stays", name)
	}
	if info.IsDir() {
		child, err := openChild(dir, name)
		if err != nil {
			return err
		}
		names, err := namesIn(child)
		for _, inner := range names {
			err = errors.Join(err, ex.removeLocal(child, inner))
		}
		if err = errors.Join(err, child.Close()); err != nil {
			return err
		}
	}
	return dir.Remove(name)
}

// makeWay removes what has the place of a file or directory and is of another
// kind, when the export may.
func (ex *exporter) makeWay(dir *os.Root, name string, info fs.FileInfo) error {
	if ex.delete && info.IsDir() {
		return ex.removeLocal(dir, name)
	}
	return ex.mayReplace(info)
}
