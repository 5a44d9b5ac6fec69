package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
)

var errRoot = errors.New("is the root directory, which cannot be moved or removed")

// parallelCommits is how many commits a command makes at a time; they share the
// wait for the disk.
const parallelCommits = 64

// removal is what the flags of rm say.
type removal struct{ recursive, force bool }

func newRmCommand(e *env) *cobra.Command {
	var r removal
	cmd := &cobra.Command{
		Use:   "rm FILE PATH...",
		Short: "Remove files and directories",
		Long: `Remove files and empty directories from the tree of the database; with -r
directories with all that is in them.

Nothing is lost: history keeps every version, which cat --at reads and restore
brings back. Each node is a commit of its own, so an interrupted rm -r leaves some
of them; run it again.`,
		Example: `  stardust rm notes.stardust done.txt
  stardust rm notes.stardust essays -r`,
		Args:    arguments(2, -1),
		GroupID: groupChange,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			err := e.write(ctx, args[0], false, func(s *session) error {
				for _, path := range args[1:] {
					if err := r.remove(ctx, s, cleanPath(path)); err != nil {
						return err
					}
				}
				return nil
			})
			return stopped(ctx, err, "what was removed by then stays removed; run the same command again to continue")
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	cmd.Flags().BoolVarP(&r.recursive, "recursive", "r", false, "remove directories with everything in them")
	cmd.Flags().BoolVarP(&r.force, "force", "f", false, "a path that does not exist is fine")
	return cmd
}

func (r removal) remove(ctx context.Context, s *session, path string) error {
	record, err := s.tree.Resolve(path)
	switch {
	case err != nil && r.force && isMissing(err):
		return nil
	case err != nil:
		return err
	case record.Entity == 0:
		return about("/", errRoot)
	case !isDirectory(record) || !r.recursive:
		err = s.tree.Remove(record.Entity, 0)
		if e := (*stardust.Error)(nil); errors.As(err, &e) && e.Code == stardust.CodeNotEmpty {
			err = errors.New("is a directory that is not empty; -r removes it with everything in it")
		}
		return about(absolute(path), err)
	}
	levels, err := s.levels(record.Entity)
	if err != nil {
		return err
	}
	for _, level := range slices.Backward(levels) {
		if err := removeAll(ctx, s, level); err != nil {
			return about(absolute(path), err)
		}
	}
	return nil
}

// levels returns the entities of a directory's tree by depth. Deeper ones must
// go first; those of one depth may go together.
func (s *session) levels(entity int64) ([][]int64, error) {
	var levels [][]int64
	for entry, err := range s.tree.Walk(entity) {
		if err != nil {
			return nil, err
		}
		depth := 0
		if entry.Path != "" {
			depth = 1 + strings.Count(entry.Path, "/")
		}
		if depth == len(levels) {
			levels = append(levels, nil)
		}
		if depth > len(levels) {
			return nil, fmt.Errorf("entity %d is deeper in the tree than its parent", entry.Record.Entity)
		}
		levels[depth] = append(levels[depth], entry.Record.Entity)
	}
	return levels, nil
}

// removeAll removes nodes of which none is in another.
func removeAll(ctx context.Context, s *session, entities []int64) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(parallelCommits)
	tree := s.tree.WithContext(inner)
	for _, entity := range entities {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error { return tree.Remove(entity, 0) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
