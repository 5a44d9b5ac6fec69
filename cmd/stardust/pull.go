package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/objectstore"
)

func newPullCommand(e *env) *cobra.Command {
	var at revision
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pull FILE [FROM]",
		Short: "Bring what was pushed since then into a database",
		Long: `Bring what the database at FROM has, and FILE lacks, into FILE: a bucket's URL, a
directory, or a database file; without it, it is where FILE came from. Every chunk and
every file's content is verified on the way.

What came by then stays when a pull is interrupted; the next one goes on there. When
each of the two has something that the other lacks, nothing is changed, and the message
says where they parted.`,
		Example: `  stardust pull photos.stardust
  stardust pull photos.stardust s3://backups/photos --at 1200`,
		Args:    arguments(1, 2),
		GroupID: groupRemote,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			err := e.write(ctx, args[0], false, func(s *session) error {
				from, err := otherPlace(ctx, s.db, args)
				if err != nil {
					return err
				}
				options := bucketdb.PullOptions{Problem: e.problem}
				if options.At, err = at.numeric(); err != nil {
					return err
				}
				if len(args) > 1 {
					if options.URL, err = from.lasting(); err != nil {
						return err
					}
				}
				return e.pull(ctx, s.db, from, asJSON, &options)
			})
			return stopped(ctx, err, "what arrived by then stays; run the same command again to continue")
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	cmd.Flags().Var(&at, "at", "go no further than this revision")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) pull(ctx context.Context, db *stardust.DB, from place, asJSON bool, options *bucketdb.PullOptions) error {
	if from.file != "" {
		return from.inFile(ctx, e, false, func(other *stardust.DB) error {
			return e.carry("pull", "Pulled", from, asJSON, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
				options.Progress = progress
				return bucketdb.Copy(ctx, other, db, options)
			})
		})
	}
	return from.inStore(ctx, e, false, func(store objectstore.Store) error {
		return e.carry("pull", "Pulled", from, asJSON, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
			options.Progress = progress
			return bucketdb.Pull(ctx, db, store, options)
		})
	})
}
