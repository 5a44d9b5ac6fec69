package dbstore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// attributeFolder marks a directory that was put as an object "a/": it stays
// when the last object in it is deleted.
const attributeFolder = "object-store/folder"

// makeFolder makes a directory of the object "a/".
func (s *Store) makeFolder(ctx context.Context, tree stardust.Tree, w write, size int64) (*objectstore.PutResult, error) {
	if size != 0 {
		return nil, fmt.Errorf("%w: %q is a directory of the database and cannot hold %d bytes", objectstore.ErrInvalidPath, w.path, size)
	}
	current, err := s.find(tree, w.path)
	switch {
	case err == nil && w.mode == objectstore.Create:
		return nil, objectstore.ErrAlreadyExists
	case w.mode == objectstore.Update && (err != nil || etagOf(current) != w.update.ETag):
		return nil, fmt.Errorf("%w: the directory is another, not empty or missing", objectstore.ErrPrecondition)
	case err != nil && !errors.Is(err, objectstore.ErrNotFound):
		return nil, err
	}
	record, err := s.makeDirectories(tree, s.in(w.path))
	if err != nil {
		return nil, err
	}
	patch, err := stardust.Parse([]byte(`{"`+attributeFolder+`":true}`), stardust.JSON)
	if err != nil {
		return nil, err
	}
	if _, err := s.db.PatchContext(ctx, record.Entity, patch, 0); err != nil {
		return nil, err
	}
	if record, err = tree.Get(record.Entity); err != nil {
		return nil, err
	}
	return &objectstore.PutResult{ETag: etagOf(record), Version: versionOf(record)}, nil
}

// makeDirectories makes the directories of a path that are missing.
func (s *Store) makeDirectories(tree stardust.Tree, in string) (record stardust.Record, err error) {
	for name := range strings.SplitSeq(in, "/") {
		parent := record.Entity
		record, err = tree.Lookup(parent, name)
		if errors.Is(err, stardust.StatusNotFound) {
			var made []stardust.Record
			if made, err = tree.Create(stardust.NewNode{Name: name, Parent: parent}); err == nil {
				record = made[0]
			} else if isTaken(err) {
				record, err = tree.Lookup(parent, name) // another has just made it
			}
		}
		switch {
		case err != nil:
			return record, err
		case record.Kind != stardust.KindDirectory:
			return record, fmt.Errorf("%w: %q is a file of the database", objectstore.ErrUnsupported, name)
		}
	}
	return record, nil
}

func isTaken(err error) bool {
	var own *stardust.Error
	return errors.As(err, &own) && own.Code == stardust.CodeNameTaken
}

// removeEmptyParents removes the directories of a path that have become empty, up
// to the store's own and those that were put as objects. It is best effort: another
// writer may be faster.
func (s *Store) removeEmptyParents(tree stardust.Tree, in string) {
	for dir := path.Dir(in); dir != s.dir && dir != "."; dir = path.Dir(dir) {
		record, err := tree.Resolve(dir)
		if err != nil {
			return
		}
		if _, marked, err := attribute(tree, record.Entity, attributeFolder); marked || err != nil {
			return
		}
		if tree.Remove(record.Entity, 0) != nil {
			return // not empty
		}
	}
}
