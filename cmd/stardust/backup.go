package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newBackupCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE COPY",
		Short: "Copy the database to a new file while others use it",
		Long: `Copy the database to the new file COPY, as it is when the backup begins, also while
another process writes it. Every chunk is verified on the way. COPY must not exist;
it appears when it is whole.`,
		Example: `  stardust backup photos.stardust /mnt/backup/photos-2026-12.stardust`,
		Args:    arguments(2, 2),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return e.read(ctx, args[0], nil, func(s *session) error {
				b := e.newBar("backup", 0)
				var last stardust.BackupProgress
				err := s.db.Backup(ctx, args[1], &stardust.BackupOptions{
					Progress: func(p stardust.BackupProgress) {
						last = p
						b.check(stardust.CheckProgress(p))
					},
				})
				b.done(last.Bytes)
				if err != nil {
					return stopped(ctx, err, "no backup was made")
				}
				info, err := os.Stat(args[1])
				if err != nil {
					return err
				}
				e.printf("Backed up %s of content to %s (%s).\n", humanSize(last.Bytes), e.name(args[1]), humanSize(info.Size()))
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	return cmd
}
