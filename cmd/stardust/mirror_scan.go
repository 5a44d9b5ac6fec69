package main

import (
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
)

func newMirrorScanCommand(e *env) *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use:     "scan",
		Short:   "Remove local copies of objects that are gone upstream",
		Example: `  stardust mirror scan --upstream s3://bucket --dir /var/lib/mirror`,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.look(cmd.Context(), e, func(m *mirror.Mirror) error {
				result, err := m.Scan(cmd.Context())
				if err != nil {
					return aboutStore(f.upstream, err)
				}
				e.printf("%s looked at, %d removed.\n", objects(int64(result.Local)), result.Removed)
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}
