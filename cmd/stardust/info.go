package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newInfoCommand(e *env) *cobra.Command {
	var asJSON bool
	var size sizes
	cmd := &cobra.Command{
		Use:     "info FILE",
		Short:   "Show what a database holds and how much space it takes",
		Example: `  stardust info photos.stardust`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.read(cmd.Context(), args[0], nil, func(s *session) error {
				info, err := s.db.Info()
				if err != nil {
					return err
				}
				if asJSON {
					return e.printJSON(info)
				}
				printInfo(e, &info, &size)
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	jsonFlag(cmd, &asJSON)
	size.addFlags(cmd)
	return cmd
}

func printInfo(e *env, info *stardust.Info, size *sizes) {
	for _, line := range []struct{ label, value string }{
		{"path", e.name(info.Path)},
		{"format", fmt.Sprint(info.Format)},
		{"identity", info.Identity},
		{"file size", size.format(e, info.FileSize)},
		{"last revision", fmt.Sprint(info.LastRevision)},
		{"files", fmt.Sprint(info.Files)},
		{"directories", fmt.Sprint(info.Directories)},
		{"payloads", fmt.Sprintf("%d (%s)", info.Payloads, unit(size.format(e, info.PayloadBytes)))},
		{"chunks", fmt.Sprintf("%d (%s)", info.Chunks, unit(size.format(e, info.ChunkBytes)))},
		{"stored", unit(size.format(e, info.StoredBytes))},
		{"compression", string(info.Compression)},
	} {
		e.println(fmt.Sprintf("%-14s %s", line.label, line.value))
	}
}

// unit makes plain a number that is a number of bytes.
func unit(size string) string {
	if last := size[len(size)-1]; last >= '0' && last <= '9' {
		return size + " bytes"
	}
	return size
}
