package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newFindCommand(e *env) *cobra.Command {
	var at revision
	var l listing
	var c conditions
	cmd := &cobra.Command{
		Use:   "find FILE [PATH]",
		Short: "Find files and directories by name, size, digest or age",
		Long: `Print the paths of what lies beneath PATH (the root by default) and meets all the
conditions. Patterns know * ? [a-z] {a,b}, and in --path ** for any directories.

--size takes a number of bytes or of K, M, G or T (powers of 1024): +10M is larger
than, -10M smaller than, 10M exactly that. --digest finds the files that hold a
payload, through an index.`,
		Example: `  stardust find photos.stardust --name '*.jpg' --size +5M
  stardust find work.stardust --path '/src/**/*.go' --since 40
  stardust find photos.stardust --digest 95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb`,
		Args:    arguments(1, 2),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			ctx := cmd.Context()
			return e.read(ctx, args[0], &at, func(s *session) error {
				return runFind(ctx, e, s, cleanPath(argument(args, 1)), &c, &l)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	l.addFlags(cmd)
	c.addFlags(cmd)
	return cmd
}

func runFind(ctx context.Context, e *env, s *session, path string, c *conditions, l *listing) error {
	top, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	if c.digest != "" {
		return s.findDigest(e, path, c, l)
	}
	damaged := int64(0)
	for entry, err := range s.tree.Walk(top.Entity) {
		if err == nil {
			err = ctx.Err()
		}
		p := join(path, entry.Path)
		if errors.Is(err, stardust.StatusEvaluationFailed) {
			damaged++
			e.notice("damaged: %s: %s", absolute(p), explain(err))
			continue
		}
		if err != nil {
			return err
		}
		if p == "" || !c.match(p, &entry.Record) {
			continue
		}
		if err := l.print(e, p, absolute(p), entry.Record); err != nil {
			return err
		}
	}
	if damaged > 0 {
		return errors.New(plural(damaged, "place is damaged", "places are damaged") + "; what they are missing is not listed")
	}
	return nil
}

// findDigest prints the files that hold a payload, in the order of their paths.
func (s *session) findDigest(e *env, path string, c *conditions, l *listing) error {
	digest, err := stardust.ParseDigest(c.digest)
	if err != nil {
		return err
	}
	entities, err := s.tree.Files(digest)
	if err != nil {
		return err
	}
	var found []stardust.Entry
	for _, entity := range entities {
		r, err := s.tree.Get(entity)
		if err != nil {
			return err
		}
		p, err := pathOf(s.tree, entity)
		if err != nil {
			return err
		}
		p = cleanPath(p)
		if (path == "" || p == path || strings.HasPrefix(p, path+"/")) && c.match(p, &r) {
			found = append(found, stardust.Entry{Path: p, Record: r})
		}
	}
	slices.SortFunc(found, func(a, b stardust.Entry) int { return comparePaths(a.Path, b.Path) })
	for _, f := range found {
		if err := l.print(e, f.Path, absolute(f.Path), f.Record); err != nil {
			return err
		}
	}
	return nil
}
