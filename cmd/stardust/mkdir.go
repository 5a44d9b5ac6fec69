package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newMkdirCommand(e *env) *cobra.Command {
	var parents bool
	cmd := &cobra.Command{
		Use:   "mkdir FILE PATH...",
		Short: "Make directories",
		Long: `Make directories in the database. FILE is made when it is missing. With -p,
directories that are missing on the way are made, too, in the same commit, and one
that exists already is fine.`,
		Example: `  stardust mkdir notes.stardust essays
  stardust mkdir notes.stardust essays/2026/drafts -p`,
		Args:    arguments(2, -1),
		GroupID: groupChange,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.write(cmd.Context(), args[0], true, func(s *session) error {
				for _, path := range args[1:] {
					if err := s.makeDirectory(cleanPath(path), parents); err != nil {
						return err
					}
				}
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	cmd.Flags().BoolVarP(&parents, "parents", "p", false, "also make missing parents; an existing directory is fine")
	return cmd
}

func (s *session) makeDirectory(path string, parents bool) error {
	if parents {
		_, _, err := s.makeDirectories(path)
		return err
	}
	directory, name := splitPath(path)
	if name == "" {
		return fmt.Errorf("the root directory always exists")
	}
	parent, err := s.directoryAt(directory)
	if isMissing(err) {
		return fmt.Errorf("the directory %s does not exist; -p makes it as well", absolute(directory))
	}
	if err == nil {
		_, err = s.tree.Create(stardust.NewNode{Name: name, Parent: parent.Entity})
	}
	return about(absolute(path), err)
}
