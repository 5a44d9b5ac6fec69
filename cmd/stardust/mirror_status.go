package main

import (
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
)

func newMirrorStatusCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is in a mirror's directory",
		Long: `Show what is in a mirror's directory. A mirror that is being served has its own
status page, /status, with downloads and queues.`,
		Example: `  stardust mirror status --upstream s3://bucket --dir /var/lib/mirror --json`,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.look(cmd.Context(), e, func(m *mirror.Mirror) error {
				stats := m.Handle().Stats()
				if asJSON {
					return e.printJSON(mirrorStatus{stats.Objects, stats.Bytes, stats.Startup.Invalid, stats.Startup.Temporary})
				}
				e.printf("%s, %s\n", objects(stats.Objects), humanSize(stats.Bytes))
				return nil
			})
		},
	}
	f.addFlags(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// mirrorStatus is what status prints as JSON.
type mirrorStatus struct {
	Objects   int64 `json:"objects"`
	Bytes     int64 `json:"bytes"`
	Invalid   int   `json:"invalidRemoved"`   // broken copies, cleaned up just now
	Temporary int   `json:"temporaryRemoved"` // of downloads that were cut off
}
