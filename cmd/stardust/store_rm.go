package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/objectstore"
)

func newStoreRmCommand(e *env) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "rm URL...",
		Short: "Delete objects",
		Long: `Delete objects. With --recursive everything under the URL goes. There is no way
back, unless the bucket keeps versions.`,
		Example: `  stardust store rm s3://bucket/logs/today.log
  stardust store rm -r s3://bucket/tmp/`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			remove := e.removeObject
			if recursive {
				remove = e.removeAll
			}
			for _, arg := range args {
				if err := remove(cmd.Context(), arg); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "delete everything under the URL")
	return cmd
}

func (e *env) removeObject(ctx context.Context, rawURL string) error {
	return e.withObject(ctx, rawURL, "", false, func(store objectstore.Store, path objectstore.Path) error {
		return store.Delete(ctx, path)
	})
}

// removeBatch is how many paths a recursive deletion collects before it deletes.
const removeBatch = 1000

func (e *env) removeAll(ctx context.Context, rawURL string) error {
	return e.withPrefix(ctx, rawURL, false, func(store objectstore.Store) error {
		var removed int64
		for {
			batch, err := firstPaths(ctx, store, removeBatch)
			if err != nil {
				return err
			}
			if len(batch) == 0 {
				e.printf("%s deleted.\n", objects(removed))
				return nil
			}
			for path, err := range objectstore.DeleteAll(ctx, store, slices.Values(batch)) {
				if err != nil {
					return stopped(ctx, aboutStore(path.String(), err), objects(removed)+" deleted")
				}
				removed++
			}
		}
	})
}

// firstPaths returns up to limit paths of a store.
func firstPaths(ctx context.Context, store objectstore.Store, limit int) ([]objectstore.Path, error) {
	var paths []objectstore.Path
	for meta, err := range listed(ctx, store) {
		if err != nil {
			return nil, err
		}
		if paths = append(paths, meta.Path); len(paths) == limit {
			break
		}
	}
	return paths, nil
}
