//go:build man

package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommands has the command by which "make install" and "make release" get man
// pages, in a program that they build for that.
func manCommands() []func(*env) *cobra.Command {
	return []func(*env) *cobra.Command{newManCommand}
}

func newManCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a man page of every command into a directory",
		Example: `  stardust man build/man`,
		Hidden:  true,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.Mkdir(args[0], 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
			// The date is SOURCE_DATE_EPOCH's, or today's.
			header := &doc.GenManHeader{Title: "STARDUST", Section: "1", Source: "Stardust"}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, header, args[0])
		},
		ValidArgsFunction: e.complete(completeFile),
	}
}
