package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

func newTagCommand(e *env) *cobra.Command {
	var at revision
	var remove, asJSON bool
	cmd := &cobra.Command{
		Use:   "tag FILE [NAME]",
		Short: "Name a revision, or list the names",
		Long: `Give the latest revision, or that of --at, the name NAME, which every --at takes from
then on. Without NAME, list the names and their revisions. A name that is in use
moves; history keeps where it was.`,
		Example: `  stardust tag notes.stardust release-1
  stardust tag notes.stardust before-the-move --at 118
  stardust tag notes.stardust`,
		Args:    arguments(1, 2),
		GroupID: groupPast,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch name := argument(args, 1); {
			case name == "" && (remove || at.set):
				return usagef("it takes a NAME")
			case name == "":
				return e.read(ctx, args[0], nil, func(s *session) error { return s.listTags(e, asJSON) })
			case remove:
				return e.write(ctx, args[0], false, func(s *session) error { return s.db.RemoveTag(ctx, name) })
			default:
				return e.write(ctx, args[0], false, func(s *session) error { return s.tag(ctx, name, &at) })
			}
		},
		ValidArgsFunction: e.complete(completeFile, completeNothing),
	}
	cmd.Flags().Var(&at, "at", "the revision to name: a number, a tag or a time (latest by default)")
	cmd.Flags().BoolVarP(&remove, "delete", "d", false, "remove the name")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (s *session) tag(ctx context.Context, name string, at *revision) error {
	view, err := at.view(s.db)
	if err != nil {
		return err
	}
	return s.db.SetTag(ctx, name, view.Revision())
}

func (s *session) listTags(e *env, asJSON bool) error {
	tags, err := s.db.Tags()
	if err != nil {
		return err
	}
	for _, tag := range tags {
		when, err := s.timeOf(tag.Revision)
		if err != nil {
			return err
		}
		if asJSON {
			err := e.printJSON(struct {
				Name     string    `json:"name"`
				Revision int64     `json:"revision"`
				Time     time.Time `json:"time,omitzero"`
			}{tag.Name, tag.Revision, when})
			if err != nil {
				return err
			}
			continue
		}
		e.printf("%-24s revision %-8d %s\n", tag.Name, tag.Revision, timestamp(when))
	}
	return nil
}
