package transfer

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// only sends what lies at some paths on its way, and returns the directories that
// are to be listed. What the file system has not at such a path is gone.
func (im *importer) only(ctx context.Context, top pending) ([]pending, error) {
	o := onlyPaths{importer: im, directories: map[string]*pending{".": &top}}
	var below []pending
	for _, path := range outermost(im.o.Only) {
		if path == "." {
			return []pending{top}, nil
		}
		found, err := o.bring(ctx, path)
		if err != nil {
			return nil, err
		}
		if found != nil {
			below = append(below, *found)
		}
	}
	return below, nil
}

// outermost returns paths without those that lie beneath another.
func outermost(paths []string) []string {
	paths = slices.Clone(paths)
	for i := range paths {
		paths[i] = path.Clean(paths[i])
	}
	slices.SortFunc(paths, comparePaths)
	kept := paths[:0]
	for _, p := range paths {
		if n := len(kept); n > 0 && (p == kept[n-1] || kept[n-1] == "." || strings.HasPrefix(p, kept[n-1]+"/")) {
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// comparePaths orders paths so that what is in a directory follows it at once.
func comparePaths(a, b string) int {
	if a == "." || b == "." {
		return strings.Compare(a, b) // it holds the others
	}
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// onlyPaths finds the directories that lead to paths.
type onlyPaths struct {
	*importer
	directories map[string]*pending // nil for one that is not there, or left out
}

// bring sends what lies at a path on its way. It returns a directory, which is to
// be listed.
func (o *onlyPaths) bring(ctx context.Context, path string) (*pending, error) {
	in, err := o.directory(ctx, parentOf(path))
	if in == nil || err != nil {
		return nil, err
	}
	e := listed{name: baseOf(path)}
	e.stat, e.err = o.look(path)
	if absent(e.err) {
		return nil, o.missed(ctx, in, path)
	}
	if o.o.DeleteExcluded && o.o.Exclude.Match(path, e.stat.mode.IsDir()) {
		return nil, o.missed(ctx, in, path)
	}
	return o.found(ctx, in, &knowledge{im: o.importer, place: in}, &e)
}

// directory returns the directory at a path, whose own directories it brings, too.
func (o *onlyPaths) directory(ctx context.Context, path string) (*pending, error) {
	if d, known := o.directories[path]; known {
		return d, nil
	}
	d, err := o.bring(ctx, path)
	if d != nil && o.o.SkipCaches && o.isCache(path) {
		d = nil
	}
	o.directories[path] = d
	return d, err
}

// missed notes that the file system has nothing at a path.
func (o *onlyPaths) missed(ctx context.Context, in *pending, path string) error {
	if !o.o.Delete || !in.there || o.o.Exclude.MatchAny(path) && !o.o.DeleteExcluded {
		return nil
	}
	child, found, err := o.to.Child(ctx, in.entity, baseOf(path))
	if found && err == nil {
		o.vanished(in, child)
	}
	return err
}

// look describes what lies at a path, without following a link.
func (im *importer) look(path string) (stat, error) {
	var info fs.FileInfo
	var err error
	if im.links != nil {
		info, err = im.links.Lstat(path)
	} else {
		info, err = fs.Stat(im.from, path)
	}
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}
