package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newTarCommand(e *env) *cobra.Command {
	var at revision
	keep := preserve(stardust.PreserveAll())
	cmd := &cobra.Command{
		Use:   "tar FILE [PATH]",
		Short: "Write files and directories as a tar archive to standard output",
		Long: `Write what is in the directory PATH of the database (its root by default), or the
file PATH, to standard output as a tar archive, with permissions, times and
symbolic links, and with what else was kept, unless --preserve says less: what of it
counts is for the program to say that unpacks the archive. Nothing is written to
disk.`,
		Example: `  stardust tar photos.stardust 2025 | ssh host tar x -C photos
  stardust tar notes.stardust --at v1 >v1.tar`,
		Args:    arguments(1, 2),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if e.outTerminal {
				return errors.New("standard output is a terminal; send the archive to a file or a pipe")
			}
			return e.read(ctx, args[0], &at, func(s *session) error {
				r, err := s.tree.Resolve(cleanPath(argument(args, 1)))
				if err != nil {
					return err
				}
				return s.tree.ExportTar(ctx, r.Entity, e.out, (*stardust.Preserve)(&keep))
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	preserveFlag(cmd, &keep, "write")
	return cmd
}

func newUntarCommand(e *env) *cobra.Command {
	var flags transferFlags
	keep := preserve(stardust.PreserveAll())
	cmd := &cobra.Command{
		Use:   "untar FILE [PATH]",
		Short: "Store what is in a tar archive on standard input",
		Long: `Store the files, directories and symbolic links of a tar archive on standard input
in the directory PATH of the database (its root by default), which is made when it
is missing, like FILE itself. Hard links become files of the same content; what
else there is, and names that lead out of the archive, is skipped and reported.
Nothing of it is applied to this machine: export restores what its own --preserve
names.`,
		Example: `  tar c -C src . | stardust untar work.stardust src
  zstd -dc backup.tar.zst | stardust untar old.stardust`,
		Args:    arguments(1, 2),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			return flags.untar(cmd.Context(), e, args[0], cleanPath(argument(args, 1)), keep)
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	flags.addFlags(cmd)
	preserveFlag(cmd, &keep, "keep")
	return cmd
}

func (t *transferFlags) untar(ctx context.Context, e *env, file, into string, keep preserve) error {
	t.quiet = e.quiet
	err := e.write(ctx, file, true, func(s *session) error {
		if f, ok := e.in.(*os.File); ok && owns(s, f) {
			return about("standard input", errOwnFile)
		}
		entity, _, err := s.makeDirectories(into)
		if err != nil {
			return err
		}
		b := e.newBar("untar", 0)
		report, err := s.tree.ImportTar(ctx, interruptible(ctx, e.in), entity, &stardust.ImportOptions{
			Progress: t.progress(b), Problem: t.problem(b), Preserve: stardust.Preserve(keep),
		})
		b.done(report.Bytes)
		return t.finish(ctx, e, "Imported", "into "+absolute(into), report, err)
	})
	return stopped(ctx, err, "what arrived before stays; run the same command again")
}
