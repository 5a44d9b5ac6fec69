package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newCreateCommand(e *env) *cobra.Command {
	var compression string
	cmd := &cobra.Command{
		Use:   "create FILE",
		Short: "Make an empty database",
		Long: `Make an empty database. import, put and mkdir make one, too, as create does without
flags.`,
		Example: `  stardust create photos.stardust --compression none`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkCompression(compression); err != nil {
				return err
			}
			if _, err := os.Lstat(args[0]); err == nil {
				return about(quote(args[0]), fs.ErrExist)
			}
			e.compression = stardust.Compression(compression)
			return e.write(cmd.Context(), args[0], true, func(*session) error { return nil })
		},
		ValidArgsFunction: e.complete(completeNothing),
	}
	cmd.Flags().StringVar(&compression, "compression", string(stardust.CompressionZstd), "how content is stored: zstd, or none")
	_ = cmd.RegisterFlagCompletionFunc("compression", cobra.FixedCompletions(compressions(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

func newCompressionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "compression FILE [zstd|none]",
		Short: "Show or change how new content is stored",
		Long: `Show how the database stores new content, or change that. What is there already
stays as it is, and is readable whatever the setting says.`,
		Example: `  stardust compression photos.stardust none`,
		Args:    arguments(1, 2),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return e.printCompression(cmd.Context(), args[0])
			}
			if err := checkCompression(args[1]); err != nil {
				return err
			}
			e.compression = stardust.Compression(args[1])
			return e.write(cmd.Context(), args[0], false, func(*session) error { return nil })
		},
		ValidArgsFunction: e.complete(completeFile),
	}
}

func (e *env) printCompression(ctx context.Context, file string) error {
	return e.read(ctx, file, nil, func(s *session) error {
		info, err := s.db.Info()
		if err == nil {
			e.println(string(info.Compression))
		}
		return err
	})
}

func compressions() []string {
	return []string{string(stardust.CompressionZstd), string(stardust.CompressionNone)}
}

func checkCompression(name string) error {
	if slices.Contains(compressions(), name) {
		return nil
	}
	return &usageError{fmt.Errorf("%s is no compression; it can be zstd or none", quote(name))}
}
