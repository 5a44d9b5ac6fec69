package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/internal/container"
)

// build says which program this is.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Format   int    `json:"format"` // the newest one that it reads and writes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show which program this is",
		Example: `  stardust version`,
		Args:    arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return e.printJSON(b)
			}
			e.printf("stardust %s\n", b.Version)
			if b.Revision != "" {
				changed := ""
				if b.Modified {
					changed = ", with changes"
				}
				e.printf("revision %s (%s%s)\n", b.Revision, b.Time, changed)
			}
			e.printf("format   %d\n", b.Format)
			e.printf("go       %s %s\n", b.Go, b.Platform)
			return nil
		},
		ValidArgsFunction: e.complete(completeNothing),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// thisBuild reads what the Go toolchain noted in the program.
func thisBuild() build {
	b := build{Version: "(unknown)", Format: container.FormatVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	noted, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if noted.Main.Version != "" {
		b.Version = noted.Main.Version
	}
	for _, s := range noted.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
