package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func newRestoreCommand(e *env) *cobra.Command {
	var at revision
	var to string
	cmd := &cobra.Command{
		Use:   "restore FILE PATH --at REVISION",
		Short: "Bring back an old version of a file or directory",
		Long: `Bring back what the file or directory PATH was at a revision, as a new commit:
changed files get their old content again, as another version, and removed files
and directories are made again. What came to a directory since then stays. No
content is read or stored, so it takes no time and no space.`,
		Example: `  stardust restore notes.stardust todo.txt --at 12
  stardust restore notes.stardust essays --at 40 --to old-essays`,
		Args:    arguments(2, 2),
		GroupID: groupPast,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !at.set {
				return usagef("restore needs --at REVISION, the revision to go back to")
			}
			if to == "" {
				to = args[1]
			}
			ctx := cmd.Context()
			err := e.write(ctx, args[0], false, func(s *session) error {
				return s.restore(ctx, e, cleanPath(args[1]), &at, cleanPath(to))
			})
			return stopped(ctx, err, "what was restored by then stays; run the same command again to continue")
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	cmd.Flags().Var(&at, "at", "the revision to go back to (see stardust log)")
	cmd.Flags().StringVar(&to, "to", "", "restore it at this path instead")
	return cmd
}

func (s *session) restore(ctx context.Context, e *env, path string, at *revision, to string) error {
	view, err := at.view(s.db)
	if err != nil {
		return err
	}
	old := view.Tree().WithContext(ctx)
	r, err := old.Resolve(path)
	if err != nil {
		return err
	}
	if to == "" && !isDirectory(r) {
		return about("/", errors.New("a file cannot take the place of the root directory"))
	}
	directory, name := splitPath(to)
	parent, _, err := s.makeDirectories(directory)
	if err != nil {
		return err
	}
	g := newGraft(s, parent, name)
	err = g.run(ctx, old, r.Entity)
	for _, problem := range g.problems {
		e.notice("failed: %s", explain(problem))
	}
	if err != nil {
		return err
	}
	e.printf("Restored %s as it was at revision %d: %d created, %d changed, %d unchanged.\n",
		e.name(absolute(to)), at.number, g.created, g.changed.Load(), g.unchanged)
	if len(g.problems) > 0 {
		return errors.New(plural(int64(len(g.problems)), "thing", "things") + " could not be restored; the others are")
	}
	return nil
}
