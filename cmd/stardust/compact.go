package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newCompactCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compact FILE",
		Short: "Give free space back to the file system",
		Long: `Give the free space within the database back to the file system, as it is after forget,
while others read. Its end is cut off, and the rest becomes holes: the file keeps its length and
takes less of the disk (du shows it, ls does not), and a copy by cp or rsync --sparse keeps them.
Where the file system knows no holes, only the end goes; a backup has no free space at all.

It can be interrupted and begun again.`,
		Example: `  stardust forget photos.stardust --keep-within 90d
  stardust compact photos.stardust`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return e.write(ctx, args[0], false, func(s *session) error { return s.compact(ctx, e, asJSON) })
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (s *session) compact(ctx context.Context, e *env, asJSON bool) error {
	b := e.newBar("compact", 0)
	var last stardust.CompactProgress
	report, err := s.db.Compact(ctx, &stardust.CompactOptions{Progress: func(p stardust.CompactProgress) {
		last = p
		b.setTotal(p.TotalBytes)
		b.set(p.Bytes)
	}})
	b.done(last.Bytes)
	if err != nil {
		return stopped(ctx, err, "what was given back stays so; compact again for the rest")
	}
	if asJSON {
		return e.printJSON(struct {
			SizeBefore   int64 `json:"sizeBefore"`
			SizeAfter    int64 `json:"sizeAfter"`
			StoredBefore int64 `json:"storedBefore"`
			StoredAfter  int64 `json:"storedAfter"`
			FreeBytes    int64 `json:"freeBytes"`
			Holes        bool  `json:"holes"`
			Tables       bool  `json:"tables"`
			Waiting      bool  `json:"waiting"`
		}(*report))
	}
	e.printf("The file took %s of the disk and takes %s; its length was %s and is %s.\n",
		humanSize(report.StoredBefore), humanSize(report.StoredAfter), humanSize(report.SizeBefore), humanSize(report.SizeAfter))
	if report.Waiting {
		e.notice("another process reads the database: free space of its tables stays until compact is run again")
	}
	if !report.Holes {
		e.notice("the file system can't make holes: %s within the file stay free for new content; a backup has no free space", humanSize(report.FreeBytes))
	}
	return nil
}
