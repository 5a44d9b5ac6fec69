package dbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// Delete implements objectstore.Store. History keeps the object's versions.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	return s.fail(objectstore.OpDelete, path, s.remove(ctx, path, "*"))
}

// DeleteMatching implements objectstore.ConditionalDeleter: the condition is checked
// within the commit.
func (s *Store) DeleteMatching(ctx context.Context, path objectstore.Path, etag string) error {
	return s.fail(objectstore.OpDelete, path, s.remove(ctx, path, etag))
}

func (s *Store) remove(ctx context.Context, path objectstore.Path, etag string) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	tree, err := s.tree(ctx)
	if err != nil {
		return err
	}
	for {
		record, err := s.find(tree, path)
		if err != nil {
			return err
		}
		if !objectstore.MatchETag(etag, etagOf(record)) {
			return fmt.Errorf("%w: ETag is %q, not %q", objectstore.ErrPrecondition, etagOf(record), etag)
		}
		err = tree.Remove(record.Entity, record.Revision)
		if isStale(err) {
			continue // it was written meanwhile: look again
		}
		if err == nil {
			s.removeEmptyParents(tree, s.in(path))
		}
		return err
	}
}

func isStale(err error) bool {
	var own *stardust.Error
	return errors.As(err, &own) && own.Code == stardust.CodeStaleRevision
}
