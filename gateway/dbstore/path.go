package dbstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// check returns ErrInvalidPath for a key that no path in a tree can be, and the
// error of an ended context.
func check(ctx context.Context, paths ...objectstore.Path) error {
	return objectstore.CheckPaths(ctx, checkPath, paths...)
}

func checkPath(path objectstore.Path) error {
	for segment := range strings.SplitSeq(strings.TrimSuffix(string(path), "/"), "/") {
		switch segment {
		case "":
			return fmt.Errorf("%w: %q has an empty segment, which no path in a database has", objectstore.ErrInvalidPath, path)
		case ".", "..":
			return fmt.Errorf("%w: %q has the segment %s", objectstore.ErrInvalidPath, path, segment)
		}
	}
	return nil
}

// isFolder reports whether a path names a directory.
func isFolder(path objectstore.Path) bool { return strings.HasSuffix(string(path), "/") }

// in returns the path in the database.
func (s *Store) in(path objectstore.Path) string {
	p := strings.TrimSuffix(string(path), "/")
	if s.dir == "" {
		return p
	}
	return s.dir + "/" + p
}

// find returns the record of an object: of a file, or for a path that ends in "/"
// of a directory in which nothing is. It returns ErrNotFound when there is none.
func (s *Store) find(tree stardust.Tree, path objectstore.Path) (stardust.Record, error) {
	record, err := tree.Resolve(s.in(path))
	switch {
	case errors.Is(err, stardust.StatusNotFound), errors.Is(err, stardust.StatusInvalidArgument):
		return record, objectstore.ErrNotFound // on its way may be a file
	case err != nil:
		return record, err
	case !isFolder(path):
		if record.Kind != stardust.KindFile {
			return record, objectstore.ErrNotFound
		}
		return record, nil
	case record.Kind != stardust.KindDirectory:
		return record, objectstore.ErrNotFound
	}
	for _, err := range tree.Children(record.Entity) {
		if err == nil {
			err = objectstore.ErrNotFound
		}
		return record, err
	}
	return record, nil
}
