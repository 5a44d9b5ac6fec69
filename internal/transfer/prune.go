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
	if ex.options.DryRun && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p := pruner{exporter: ex, chain: newChain(newDirectory(root)), base: "."}
	defer p.chain.close()
	for i := range ex.directories {
		if err := p.one(ctx, &ex.directories[i]); err != nil {
			return err
		}
	}
	return nil
}

// pruner removes local files, without following links, and without recursion.
type pruner struct {
	*exporter
	chain *chain
	// base is the path of the chain's top from the export's; "." for its own.
	base string
}

// one removes what one directory has beyond the tree's.
func (p *pruner) one(ctx context.Context, node *Node) error {
	known := make(map[string]bool)
	for name, err := range p.from.Names(ctx, node.Entity) {
		if err != nil {
			return err
		}
		known[name] = true
	}
	names, err := p.names(node.Path)
	if err != nil {
		p.failed(node.Path, err)
		return nil
	}
	for _, name := range names {
		path := name
		if node.Path != "" {
			path = node.Path + "/" + name
		}
		if known[name] && !p.deleteExcluded || IsTemporary(name) {
			continue
		}
		if known[name] { // but it may be excluded
			in, err := p.chain.parent(path)
			if err != nil {
				continue // it was reported
			}
			info, err := in.root.Lstat(name)
			if err != nil || !p.rules.Match(path, info.IsDir()) {
				continue
			}
		}
		if _, err := p.clear(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names in a directory; empty is the chain's top.
func (p *pruner) names(path string) ([]string, error) {
	if path != "" {
		path += "/"
	}
	dir, err := p.chain.parent(path)
	if err != nil {
		return nil, err
	}
	f, err := dir.root.Open(".")
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

// pruneStep is a local file or directory that is to go.
type pruneStep struct {
	path      string
	directory bool
	entered   bool
	stays     bool // something in it does
	parent    int  // on the stack, or -1
}

// clear removes a file, or a directory with everything in it, and reports whether
// all of it is gone. What stays is reported when that is not what the rules say, and
// keeps the directories that lead to it. The error ends the export.
func (p *pruner) clear(ctx context.Context, path string) (gone bool, err error) {
	stack := []pruneStep{{path: path, parent: -1}}
	for len(stack) > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		at := len(stack) - 1
		if s := &stack[at]; !s.entered {
			s.entered = true
			names, err := p.enter(s)
			if err != nil {
				p.failed(join(p.base, s.path), err)
				s.stays = true
			}
			prefix := s.path + "/"
			for _, name := range names {
				stack = append(stack, pruneStep{path: prefix + name, parent: at})
			}
			continue
		}
		s := stack[at]
		stack = stack[:at]
		if !s.stays {
			if err := p.remove(&s); err != nil {
				p.failed(join(p.base, s.path), err)
				s.stays = true
			}
		}
		if s.stays && s.parent >= 0 {
			stack[s.parent].stays = true
		}
		gone = !s.stays
	}
	return gone, nil
}

// enter looks at what is to go, and returns the names in it.
func (p *pruner) enter(s *pruneStep) ([]string, error) {
	in, err := p.chain.parent(s.path)
	if err != nil {
		return nil, err
	}
	info, err := in.root.Lstat(baseOf(s.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if p.from.Owns(info) {
		return nil, errors.New("is the database that is exported; it stays")
	}
	s.directory = info.IsDir()
	if !p.deleteExcluded && p.rules.Match(join(p.base, s.path), s.directory) {
		s.stays = true
		return nil, nil
	}
	if !s.directory {
		return nil, nil
	}
	return p.names(s.path)
}

// remove removes one name, and reports it.
func (p *pruner) remove(s *pruneStep) error {
	in, err := p.chain.parent(s.path)
	if err != nil {
		return err
	}
	if !p.options.DryRun {
		if err := in.root.Remove(baseOf(s.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	p.update(func(r *Report) { r.Removed++ })
	p.changed(Change{Action: ActionRemoved, Path: join(p.base, s.path), Directory: s.directory})
	return nil
}

// makeWay removes what is in the place of a file or directory and of another
// kind, if the export may.
func (ex *exporter) makeWay(ctx context.Context, in *directory, node *Node, info fs.FileInfo) error {
	if !ex.delete || !info.IsDir() {
		return ex.mayReplace(info)
	}
	gone, err := ex.clearPlace(ctx, in, node)
	if err == nil && !gone {
		err = fmt.Errorf("a %s of that name is in the way, in which something stays", kindOf(info.Mode()))
	}
	return err
}

// clearPlace removes what has a node's name in its directory.
func (ex *exporter) clearPlace(ctx context.Context, in *directory, node *Node) (gone bool, err error) {
	in.retain()
	p := pruner{exporter: ex, chain: newChain(in), base: parentOf(node.Path)}
	defer p.chain.close()
	return p.clear(ctx, node.Name)
}

// baseOf returns the last name of a path.
func baseOf(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}
