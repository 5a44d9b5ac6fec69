package main

import (
	"context"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newDiffCommand(e *env) *cobra.Command {
	var asJSON bool
	var size sizes
	var local importing
	cmd := &cobra.Command{
		Use:   "diff FILE REVISION1 REVISION2 [PATH]",
		Short: "Show what changed between two revisions, or in a local directory",
		Long: `Show what is different in PATH (the root by default) at REVISION2, or at the word
latest, from what was there at REVISION1: + created, - removed, > moved, ~ changed
content. What a moved directory holds moved with it and is not listed.

With a local directory in the place of both revisions, show what stardust import
--delete would change. Files that did not change since an import are not read.`,
		Example: `  stardust diff notes.stardust 12 latest
  stardust diff notes.stardust yesterday latest essays --json
  stardust diff photos.stardust ~/Pictures`,
		Args:    arguments(2, 4),
		GroupID: groupPast,
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[1]); len(args) < 4 && err == nil && info.IsDir() {
				local.delete, local.dryRun, local.json = true, true, asJSON
				return local.run(cmd.Context(), e, args[0], args[1], cleanPath(argument(args, 2)))
			}
			if len(args) < 3 {
				return usagef("%s is not a local directory; to compare the past, give two revisions", quote(args[1]))
			}
			var from, to revision
			for i, r := range []*revision{&from, &to} {
				if err := r.Set(args[1+i]); err != nil {
					return &usageError{err}
				}
			}
			ctx := cmd.Context()
			return e.read(ctx, args[0], nil, func(s *session) error {
				differences, err := s.diff(ctx, &from, &to, cleanPath(argument(args, 3)))
				if err != nil {
					return err
				}
				for i := range differences {
					if err := differences[i].print(e, &size, asJSON); err != nil {
						return err
					}
				}
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal, completeNothing, completePath),
	}
	jsonFlag(cmd, &asJSON)
	local.patterns.addFlags(cmd)
	cmd.Flags().BoolVar(&local.readAll, "read-all", false, "also read local files that seem unchanged")
	size.addFlags(cmd)
	return cmd
}

// difference is one difference between two revisions.
type difference struct {
	Change string `json:"change"`
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // where it was, when it moved
	Before *node  `json:"before,omitempty"`
	After  *node  `json:"after,omitempty"`
}

func (d *difference) print(e *env, size *sizes, asJSON bool) error {
	if asJSON {
		return e.printJSON(d)
	}
	line := mark(d.Change) + " "
	if d.From != "" {
		line += e.name(d.From) + " -> "
	}
	line += e.name(d.Path)
	n := d.After
	if n == nil {
		n = d.Before
	}
	switch {
	case n.Kind == stardust.KindDirectory:
		line += "/"
	case d.Change == actionChanged:
		line += "  (" + size.format(e, *d.Before.Size) + " -> " + size.format(e, *n.Size) + ")"
	default:
		line += "  (" + size.format(e, *n.Size) + ")"
	}
	e.println(line)
	return nil
}

// diff compares a part of the tree at two revisions. It walks both at once and
// keeps only what differs.
func (s *session) diff(ctx context.Context, from, to *revision, path string) ([]difference, error) {
	before, missing1, err := s.walkAt(ctx, from, path)
	if err != nil {
		return nil, err
	}
	after, missing2, err := s.walkAt(ctx, to, path)
	if err != nil {
		return nil, err
	}
	if missing1 != nil && missing2 != nil {
		return nil, missing2
	}
	c := comparison{path: path}
	if err := c.merge(before, after); err != nil {
		return nil, err
	}
	return c.result(), nil
}

// walkAt walks a path at a revision. If nothing is there the walk is empty; the
// error is shown if nothing is there at the other revision either.
func (s *session) walkAt(ctx context.Context, at *revision, path string) (walk iter.Seq2[stardust.Entry, error], missing, err error) {
	view, err := at.view(s.db)
	if err != nil {
		return nil, nil, err
	}
	tree := view.Tree().WithContext(ctx)
	top, err := tree.Resolve(path)
	if isMissing(err) {
		return func(func(stardust.Entry, error) bool) {}, err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return tree.Walk(top.Entity), nil, nil
}
