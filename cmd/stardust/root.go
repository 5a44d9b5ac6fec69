package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of commands in the help.
const (
	groupTransfer = "transfer"
	groupLook     = "look"
	groupChange   = "change"
	groupPast     = "past"
	groupCare     = "care"
	groupRemote   = "remote"
)

// defaultLockTimeout is how long a command waits for another writer.
const defaultLockTimeout = 5 * time.Second

// newRootCommand returns the whole command line.
func newRootCommand(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "stardust",
		Short: "Keep files in one file, with every version of them",
		Long: `Stardust keeps files in a database that is one file: content is stored once
however often it occurs, every change is a commit, and every earlier version stays
readable.

Most commands take the database FILE first and then paths in it, such as /a/b or
a/b. - stands for standard input or output. Exit codes: 0 done, 1 something failed,
2 the command line makes no sense, 130 interrupted.`,
		Args:              arguments(0, -1),
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE:              func(cmd *cobra.Command, args []string) error { return runGroup(cmd, args) },
		ValidArgsFunction: e.complete(completeNothing),
	}
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.SetIn(e.in)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	flags := root.PersistentFlags()
	flags.DurationVar(&e.lockTimeout, "lock-timeout", defaultLockTimeout, "wait this long for another process that is writing the database")
	flags.BoolVar(&e.acceptMissingLog, "accept-missing-log", false, "open a database although its log is missing, and the latest commits with it")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "no progress bar and no notices")
	flags.BoolVarP(&e.verbose, "verbose", "v", false, "log what the database does to standard error")
	root.AddGroup(
		&cobra.Group{ID: groupTransfer, Title: "Move files in and out:"},
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupChange, Title: "Change:"},
		&cobra.Group{ID: groupPast, Title: "The past:"},
		&cobra.Group{ID: groupCare, Title: "Take care:"},
		&cobra.Group{ID: groupRemote, Title: "Buckets:"},
	)
	for _, newCommand := range append(commands(), manCommands()...) {
		root.AddCommand(newCommand(e))
	}
	markFlagErrors(root)
	return root
}

// commands are the constructors of all commands and groups of commands.
func commands() []func(*env) *cobra.Command {
	return []func(*env) *cobra.Command{
		newCreateCommand, newCompressionCommand,
		newImportCommand, newExportCommand, newPutCommand, newGetCommand, newTarCommand, newUntarCommand, newWatchCommand, newMountCommand,
		newLsCommand, newTreeCommand, newCatCommand, newStatCommand, newFindCommand, newDuCommand,
		newMkdirCommand, newMvCommand, newRmCommand, newPatchCommand,
		newLogCommand, newDiffCommand, newTagCommand, newRestoreCommand, newForgetCommand,
		newInfoCommand, newCheckCommand, newBackupCommand, newCompactCommand, newSalvageCommand, newHealCommand,
		newPushCommand, newCloneCommand, newPullCommand, newFsckCommand, newGCCommand, newStoreCommand, newMirrorCommand, newSlateDBCommand,
		newServeCommand, newUserCommand, newTokenCommand, newShareCommand,
		newDemoCommand, newVersionCommand,
	}
}

// runGroup is what a group of commands does: it prints help.
func runGroup(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		cmd.SetOut(cmd.ErrOrStderr())
		if err := cmd.Help(); err != nil {
			return err
		}
		return usagef("it takes a command")
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if _, err := os.Stat(args[0]); err == nil && !cmd.HasParent() {
		return usagef("%s; the command comes first, such as stardust ls %s", text, args[0])
	}
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // or every short command would be similar to a short word
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		text += "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return usagef("%s", text)
}

// markFlagErrors makes usage errors of flags that exclude each other, in words.
func markFlagErrors(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
			if cmd.ValidateFlagGroups() == nil {
				return nil
			}
			var given []string
			cmd.Flags().Visit(func(f *pflag.Flag) { given = append(given, "--"+f.Name) })
			return usagef("%s exclude each other", strings.Join(given, " and "))
		}
		markFlagErrors(cmd)
	}
}
