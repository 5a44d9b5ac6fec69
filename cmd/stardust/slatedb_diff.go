package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

func newSlateDBDiffCommand(e *env) *cobra.Command {
	var f slateFlags
	cmd := &cobra.Command{
		Use:     "diff URL A B",
		Short:   "Show how manifest B differs from manifest A",
		Example: `  stardust slatedb diff s3://bucket/db 41 42`,
		Args:    arguments(3, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ids [2]uint64
			for i, arg := range args[1:] {
				var err error
				if ids[i], err = strconv.ParseUint(arg, 10, 64); err != nil || ids[i] == 0 {
					return usagef("%q is not the number of a manifest", arg)
				}
			}
			return f.withDatabase(cmd.Context(), e, args[0], func(store objectstore.Store, root objectstore.Path) error {
				a, err := slatedb.ReadManifest(cmd.Context(), store, root, ids[0])
				if err != nil {
					return err
				}
				b, err := slatedb.ReadManifest(cmd.Context(), store, root, ids[1])
				if err != nil {
					return err
				}
				d := slatedb.Diff(a, b)
				if f.json {
					return e.printJSON(d)
				}
				printManifestDiff(e, d)
				return nil
			})
		},
	}
	f.addRootFlag(cmd)
	return cmd
}

func printManifestDiff(e *env, d *slatedb.ManifestDiff) {
	for _, id := range d.RemovedSSTs {
		e.printf("- SST %s\n", id)
	}
	for _, id := range d.AddedSSTs {
		e.printf("+ SST %s\n", id)
	}
	for _, c := range d.RemovedCheckpoints {
		e.printf("- checkpoint %s of manifest %d\n", c.ID, c.ManifestID)
	}
	for _, c := range d.AddedCheckpoints {
		e.printf("+ checkpoint %s of manifest %d\n", c.ID, c.ManifestID)
	}
	for _, c := range d.ChangedCheckpoints {
		e.printf("~ checkpoint %s of manifest %d\n", c.ID, c.ManifestID)
	}
	for _, path := range d.RemovedExternalDBs {
		e.printf("- external database %s\n", e.name(path))
	}
	for _, path := range d.AddedExternalDBs {
		e.printf("+ external database %s\n", e.name(path))
	}
	for _, s := range d.RemovedSegments {
		e.printf("- segment %s\n", segmentName(e, s))
	}
	for _, s := range d.AddedSegments {
		e.printf("+ segment %s\n", segmentName(e, s))
	}
	for _, f := range d.Fields {
		e.printf("~ %s: %d, was %d\n", f.Name, f.To, f.From)
	}
}

func newSlateDBDuCommand(e *env) *cobra.Command {
	var f slateFlags
	var size sizes
	cmd := &cobra.Command{
		Use:   "du URL",
		Short: "Show what a database's SSTs take up: live, retained, garbage",
		Long: `Show what a database's compacted SSTs take up: live (in the latest manifest),
retained (in active checkpoints only), in flight (output of compactions under way),
garbage (all others, which a collector may delete once they are old enough), and
external (other databases' SSTs that it borrows). A volume for a mirror needs room
for live, retained and in flight.`,
		Example: `  stardust slatedb du s3://bucket/db`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withDatabase(cmd.Context(), e, args[0], func(store objectstore.Store, root objectstore.Path) error {
				report, err := slatedb.Usage(cmd.Context(), store, root, e.now())
				if err != nil {
					return err
				}
				if f.json {
					err = e.printJSON(report)
				} else {
					printUsage(e, report, &size)
				}
				if err == nil && len(report.Missing) > 0 {
					err = fmt.Errorf("the database needs %s that the store does not have",
						plural(int64(len(report.Missing)), "SST", "SSTs"))
				}
				return err
			})
		},
	}
	f.addRootFlag(cmd)
	size.addFlags(cmd)
	return cmd
}

func printUsage(e *env, r *slatedb.UsageReport, size *sizes) {
	e.printf("%-10s %8s %14s\n", "", "SSTS", "SIZE")
	for _, line := range []struct {
		name   string
		amount slatedb.Amount
	}{
		{"live", r.Live},
		{"retained", r.Retained},
		{"in flight", r.InFlight},
		{"garbage", r.Garbage},
		{"external", r.External},
	} {
		e.printf("%-10s %8d %14s\n", line.name, line.amount.Objects, size.format(e, line.amount.Bytes))
	}
	for _, path := range r.Missing {
		e.printf("missing    %s\n", e.name(path.String()))
	}
}
