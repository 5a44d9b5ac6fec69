package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/objectstore"
)

func newCloneCommand(e *env) *cobra.Command {
	var at revision
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "clone FROM FILE",
		Short: "Make a database file from a bucket, or from another file",
		Long: `Make the new file FILE of the database at FROM: a bucket's URL, a directory, or a
database file. It has the same tree, revisions and history, or with --at those up to a
revision, and everything in it is verified. FILE knows where it came from, for pull and
push. It appears when it is whole; an interrupted clone goes on where it was when the
same command is run again.`,
		Example: `  stardust clone s3://backups/photos photos.stardust
  stardust clone s3://backups/photos before.stardust --at 1200`,
		Args:    arguments(2, 2),
		GroupID: groupRemote,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			from, err := findPlace(args[0])
			if err != nil {
				return err
			}
			options := bucketdb.PullOptions{Problem: e.problem}
			if options.At, err = at.numeric(); err != nil {
				return err
			}
			if options.URL, err = from.lasting(); err != nil {
				return err
			}
			err = onFullDisk(args[1], e.clone(ctx, from, args[1], asJSON, &options))
			return stopped(ctx, err, "run the same command again to continue")
		},
		ValidArgsFunction: e.complete(completeLocal, completeFile),
	}
	cmd.Flags().Var(&at, "at", "only up to this revision")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) clone(ctx context.Context, from place, file string, asJSON bool, options *bucketdb.PullOptions) error {
	if from.file != "" {
		return from.inFile(ctx, e, false, func(other *stardust.DB) error {
			return e.carry("clone", "Cloned", from, asJSON, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
				options.Progress = progress
				return bucketdb.CloneFile(ctx, other, file, options)
			})
		})
	}
	return from.inStore(ctx, e, false, func(store objectstore.Store) error {
		return e.carry("clone", "Cloned", from, asJSON, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
			options.Progress = progress
			return bucketdb.Clone(ctx, store, file, options)
		})
	})
}
