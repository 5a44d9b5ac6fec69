package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newMvCommand(e *env) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "mv FILE SOURCE... DEST",
		Short: "Move or rename files and directories",
		Long: `Move each SOURCE of the database to DEST. When DEST is a directory, ends in a slash
or takes several sources, they land in it under their own names.

With --replace a file may take the place of a file, and a directory that of an
empty directory.`,
		Example: `  stardust mv notes.stardust todo.txt done.txt
  stardust mv notes.stardust a.md b.md essays/`,
		Args:    arguments(3, -1),
		GroupID: groupChange,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.write(cmd.Context(), args[0], false, func(s *session) error {
				sources := args[1 : len(args)-1]
				d, err := s.destination(args[len(args)-1], len(sources) > 1)
				if err != nil {
					return err
				}
				for _, source := range sources {
					if err := s.move(cleanPath(source), d, replace); err != nil {
						return err
					}
				}
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace what has the name already")
	return cmd
}

func (s *session) move(source string, d destination, replace bool) error {
	r, err := s.tree.Resolve(source)
	if err != nil {
		return err
	}
	if r.Entity == 0 {
		return about("/", errRoot)
	}
	name := d.name
	if name == "" {
		name = r.Name
	}
	_, err = s.tree.Move(r.Entity, d.entity, name, 0, replace)
	if e := (*stardust.Error)(nil); errors.As(err, &e) && e.Code == stardust.CodeNameTaken {
		return about(absolute(d.at(name)), errors.New("exists already; --replace replaces it"))
	}
	if err != nil {
		return about(absolute(source), err)
	}
	return nil
}
