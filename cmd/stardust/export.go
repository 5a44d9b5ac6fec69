package main

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newExportCommand(e *env) *cobra.Command {
	var flags transferFlags
	var at revision
	var options stardust.ExportOptions
	var keep preserve
	var exclude patterns
	cmd := &cobra.Command{
		Use:   "export FILE [PATH] DIR",
		Short: "Copy files and directories out of the database into a local directory",
		Long: `Copy what is in the directory PATH of the database (its root by default), or the
file PATH, into the local directory DIR, which is made when it is missing.

Files that have the content already are left alone; those with other content are
reported, or overwritten with --replace. Each file is there whole or not at all,
and nothing is written outside DIR, whatever names and links there are. With
--delete, DIR holds in the end what PATH holds and nothing else. What patterns leave
out is neither written nor removed, unless with --delete-excluded; --dry-run prints
what would change.

Permissions, times and holes are restored. What else was kept is not, since the
database may come from a stranger, unless --preserve names it: owner, user's extended
attributes (xattrs), hardlinks, and privileges: setuid, setgid and sticky bits and
the other extended attributes. What a file cannot be given is reported.`,
		Example: `  stardust export photos.stardust /tmp/photos
  stardust export work.stardust projects/app src --at 118 --replace`,
		Args:    arguments(2, 3),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			path := ""
			if len(args) == 3 {
				path = cleanPath(args[1])
			}
			return e.read(cmd.Context(), args[0], &at, func(s *session) error {
				options.Exclude = exclude
				options.Preserve = stardust.Preserve(keep)
				return flags.runExport(cmd.Context(), e, s, path, args[len(args)-1], &options)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath, completeLocal),
	}
	flags.addFlags(cmd)
	atFlag(cmd, &at)
	cmd.Flags().BoolVar(&options.Replace, "replace", false, "overwrite local files that have other content")
	cmd.Flags().BoolVar(&options.Delete, "delete", false, "replace files, and remove from DIR what PATH does not have")
	exclude.addFlags(cmd)
	cmd.Flags().BoolVar(&options.DeleteExcluded, "delete-excluded", false, "--delete, and remove from DIR what the patterns leave out")
	cmd.Flags().BoolVarP(&options.DryRun, "dry-run", "n", false, "print what would change, and change nothing")
	preserveFlag(cmd, &keep, "restore")
	cmd.Flags().BoolVar(&options.Sparse, "sparse", false, "make holes of zeros in every file, not only in those that had some")
	return cmd
}

func (t *transferFlags) runExport(ctx context.Context, e *env, s *session, path, to string, options *stardust.ExportOptions) error {
	t.quiet = e.quiet
	r, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	b := e.newBar("export", 0)
	summed := sum(ctx, s, r.Entity, b)
	options.Workers, options.Progress, options.Problem = t.workers, t.progress(b), t.problem(b)
	options.Change = t.change(e, func(path string) string { return filepath.Join(to, path) }, options.DryRun)
	verb := "Exported"
	if options.DryRun {
		verb = "Would export"
	}
	report, err := s.tree.Export(ctx, r.Entity, to, options)
	summed()
	b.done(report.Bytes)
	return t.finish(ctx, e, verb, "to "+to, report, onFullDisk(to, err))
}

// sum counts the bytes for the bar, if it is shown, while the export goes on.
// The caller calls the function returned to end it and wait for it.
func sum(ctx context.Context, s *session, entity int64, b *bar) (end func()) {
	if b.progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		total := int64(0)
		for entry, err := range s.tree.WithContext(ctx).Walk(entity) {
			if err != nil || ctx.Err() != nil {
				return // the export has it to report
			}
			if entry.Record.Kind == stardust.KindFile {
				total += entry.Record.Size
				b.setTotal(total)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
