package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/attributes"
)

// directory is an open directory of an export's target. Paths are never
// joined: every step opens one name within its parent, so that no path is too
// long and nothing leads outside. It closes when its last user releases it.
type directory struct {
	root *os.Root
	refs atomic.Int64
}

func newDirectory(root *os.Root) *directory {
	d := &directory{root: root}
	d.refs.Store(1)
	return d
}

func (d *directory) retain() { d.refs.Add(1) }

func (d *directory) release() {
	if d == nil {
		return
	}
	if d.refs.Add(-1) == 0 {
		_ = d.root.Close() // nothing was written through it
	}
}

// there returns what has a name already, or nil: in a directory, which is nil itself
// when a dry run did not make it.
func (d *directory) there(name string) (fs.FileInfo, error) {
	if d == nil {
		return nil, nil
	}
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// makeDirectory makes a child directory, and reports whether it was missing. Its
// permissions follow when everything is in it. With replace it takes the place of
// a symbolic link, wherever that leads.
func (d *directory) makeDirectory(name string, kept *attributes.File, replace bool) (made bool, err error) {
	mode := fs.FileMode(0o777)
	if kept.HasMode {
		mode = kept.FileMode().Perm() | 0o700
	}
	err = d.root.Mkdir(name, mode)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	info, err := d.root.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink && replace {
		if err := d.root.Remove(name); err != nil {
			return false, err
		}
		return d.makeDirectory(name, kept, false)
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("a %s of that name is in the way of the directory", kindOf(info.Mode()))
	}
	return false, err
}

// openLevels is how many of the innermost directories of the path stay open,
// and openEvery how far apart those further out do: a deep tree must not use up
// the process's files.
const (
	openLevels = 64
	openEvery  = 256
)

// chain holds the directories from the target's top to where the walk stands.
type chain struct {
	names []string     // names[i] leads from dirs[i] to dirs[i+1]
	dirs  []*directory // nil where closed to save files; dirs[0] is the top
}

func newChain(top *directory) *chain {
	return &chain{dirs: []*directory{top}}
}

// parent returns the open directory that holds the last name of a path. It is
// valid until the next call unless retained.
func (p *chain) parent(path string) (*directory, error) {
	depth := strings.Count(path, "/")
	p.leave(depth, path)
	// Open what leads there, from the innermost directory that is open.
	from := len(p.dirs) - 1
	for p.dirs[from] == nil {
		from--
	}
	rest := path
	for range len(p.names) {
		_, rest, _ = strings.Cut(rest, "/")
	}
	for len(p.names) < depth {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		p.names = append(p.names, name)
		p.dirs = append(p.dirs, nil)
	}
	for i := from; i < depth; i++ {
		root, err := openChild(p.dirs[i].root, p.names[i])
		if err != nil {
			return nil, fmt.Errorf("its directory cannot be used: %w", err)
		}
		p.dirs[i+1] = newDirectory(root)
		p.thin(i + 1)
	}
	return p.dirs[depth], nil
}

// leave closes the directories that are not on the way to path.
func (p *chain) leave(depth int, path string) {
	common, rest := 0, path
	for common < min(depth, len(p.names)) {
		name, more, _ := strings.Cut(rest, "/")
		if name != p.names[common] {
			break
		}
		common, rest = common+1, more
	}
	for i := common + 1; i < len(p.dirs); i++ {
		if p.dirs[i] != nil {
			p.dirs[i].release()
		}
	}
	p.names, p.dirs = p.names[:common], p.dirs[:common+1]
}

// thin closes the directory that is now too far out.
func (p *chain) thin(newest int) {
	i := newest - openLevels
	if i > 0 && i%openEvery != 0 && p.dirs[i] != nil {
		p.dirs[i].release()
		p.dirs[i] = nil
	}
}

func (p *chain) close() {
	for _, d := range p.dirs {
		if d != nil {
			d.release()
		}
	}
}

// openChild opens a directory within another, and no other one by a symbolic
// link, which OpenRoot would follow.
func openChild(in *os.Root, name string) (*os.Root, error) {
	there, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, fmt.Errorf("a %s has its name", kindOf(there.Mode()))
	}
	child, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := child.Stat(".")
	if err == nil && !os.SameFile(there, opened) {
		err = errors.New("something else took its place")
	}
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return child, nil
}
