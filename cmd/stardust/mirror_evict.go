package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func newMirrorEvictCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var all bool
	cmd := &cobra.Command{
		Use:     "evict [PATH]...",
		Short:   "Remove local copies; the upstream is not touched",
		Example: `  stardust mirror evict --upstream s3://bucket --dir /var/lib/mirror old/table.sst`,
		Args:    arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("give paths, or --all")
			}
			return f.look(cmd.Context(), e, func(m *mirror.Mirror) error {
				var paths []objectstore.Path
				if all {
					for meta := range m.Handle().Entries() {
						paths = append(paths, meta.Path)
					}
				}
				for _, arg := range args {
					path, err := objectstore.KeyPath(arg)
					if err != nil {
						return &usageError{err}
					}
					if !m.Handle().Contains(path) {
						return aboutStore(arg, errors.New("there is no local copy"))
					}
					paths = append(paths, path)
				}
				removed, err := m.Evict(cmd.Context(), paths...)
				e.printf("%s removed.\n", objects(int64(removed)))
				return err
			})
		},
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "remove every local copy")
	return cmd
}
