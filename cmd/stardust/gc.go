package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/objectstore"
)

// collected is a report of gc as --json prints it.
type collected struct {
	DryRun bool  `json:"dryRun"`
	Packs  int64 `json:"packs"`
	Bytes  int64 `json:"bytes"`
	Young  int64 `json:"young"`
	Named  int64 `json:"named"`
}

func newGCCommand(e *env) *cobra.Command {
	var dryRun, asJSON bool
	var keep time.Duration
	cmd := &cobra.Command{
		Use:   "gc URL",
		Short: "Delete from a bucket what interrupted pushes left",
		Long: `Delete the packs in a bucket that no commit of the database there needs: what pushes
left that were interrupted, or lost a race. It may run beside pushes, pulls and others of
its kind, on any machine, and be interrupted. A push that is under way for longer than
--keep sends again what it has sent; nothing else is lost in any case.

It needs the right to delete, which pushes do not.`,
		Example: `  stardust gc s3://backups/photos --dry-run
  stardust gc s3://backups/photos`,
		Args:    arguments(1, 1),
		GroupID: groupRemote,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := findPlace(args[0])
			if err != nil {
				return err
			}
			if from.file != "" {
				return usagef("%s is no bucket", quote(from.text))
			}
			if keep < 0 {
				return usagef("--keep %v: it cannot be negative", keep)
			}
			return from.inStore(cmd.Context(), e, false, func(store objectstore.Store) error {
				return e.gc(cmd.Context(), store, keep, dryRun, asJSON)
			})
		},
		ValidArgsFunction: e.complete(completeLocal),
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "only say what would go")
	cmd.Flags().DurationVar(&keep, "keep", 24*time.Hour, "leave what is younger than this")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) gc(ctx context.Context, store objectstore.Store, keep time.Duration, dryRun, asJSON bool) error {
	if keep == 0 {
		keep = -1
	}
	report, err := bucketdb.GC(ctx, store, &bucketdb.GCOptions{Grace: keep, DryRun: dryRun, Problem: e.problem, Now: e.now})
	if err != nil {
		return stopped(ctx, err, "run the same command again to go on")
	}
	if asJSON {
		return e.printJSON(collected{dryRun, report.Packs, report.Bytes, report.Young, report.Named})
	}
	e.println(gcText(report, dryRun))
	return nil
}

// gcText says what a gc did, or would do.
func gcText(r *bucketdb.GCReport, dryRun bool) string {
	text := "Nothing to delete"
	if r.Packs > 0 {
		did := "Deleted "
		if dryRun {
			did = "Would delete "
		}
		text = did + plural(r.Packs, "pack", "packs") + " (" + humanSize(r.Bytes) + ") that nothing names"
	}
	text += "; " + plural(r.Named, "pack is", "packs are") + " in use"
	if r.Young > 0 {
		text += ", and " + plural(r.Young, "is", "are") + " too young to tell"
	}
	return text + "."
}
