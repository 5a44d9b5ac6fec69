package dbstore

import (
	"context"
	"iter"
	"slices"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// Versions implements objectstore.VersionLister: the versions since the file
// was made or moved to this path. Those of an earlier, deleted file at this
// path can still be read by their revision.
func (s *Store) Versions(ctx context.Context, path objectstore.Path) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		versions, err := s.versions(ctx, path)
		if err != nil {
			yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpVersions, path, err))
			return
		}
		for _, v := range slices.Backward(versions) {
			meta, err := s.meta(path, v.Record)
			if err != nil {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpVersions, path, err))
				return
			}
			if !yield(meta, nil) {
				return
			}
		}
	}
}

func (s *Store) versions(ctx context.Context, path objectstore.Path) ([]stardust.Version, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	tree, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	record, err := s.find(tree, path)
	if err != nil {
		return nil, err
	}
	all, err := tree.History(record.Entity)
	for i, v := range slices.Backward(all) {
		if v.Parent != record.Parent || v.Name != record.Name {
			return all[i+1:], err
		}
	}
	return all, err
}
