package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/objectstore"
)

// fsckOutcome is a bucket's report as --json prints it.
type fsckOutcome struct {
	Revision     int64    `json:"revision"`
	Batches      int64    `json:"batches"`
	Packs        int64    `json:"packs"`
	Chunks       int64    `json:"chunks"`
	Payloads     int64    `json:"payloads"`
	Transactions int64    `json:"transactions"`
	Bytes        int64    `json:"bytes"`
	Stored       int64    `json:"stored"`
	Unnamed      int64    `json:"unnamed"`
	Bundles      int64    `json:"bundles"`
	Damaged      int64    `json:"damaged"`
	Problems     []string `json:"problems,omitempty"`
}

func newFsckCommand(e *env) *cobra.Command {
	var read, asJSON bool
	cmd := &cobra.Command{
		Use:   "fsck URL",
		Short: "Verify the database in a bucket",
		Long: `Read the log of the database in a bucket, and look for every pack that it names. With
--read all packs are read back, and every chunk in them is compared with its digest.
Each thing that is wrong is listed, and the exit code is 1 then.`,
		Example: `  stardust fsck s3://backups/photos
  stardust fsck s3://backups/photos --read`,
		Args:    arguments(1, 1),
		GroupID: groupRemote,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := findPlace(args[0])
			if err != nil {
				return err
			}
			if from.file != "" {
				return usagef("%s is not a bucket; stardust check verifies a database file", quote(from.text))
			}
			return from.inStore(cmd.Context(), e, false, func(store objectstore.Store) error {
				return e.fsck(cmd.Context(), store, read, asJSON)
			})
		},
		ValidArgsFunction: e.complete(completeLocal),
	}
	cmd.Flags().BoolVar(&read, "read", false, "read all packs back")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) fsck(ctx context.Context, store objectstore.Store, read, asJSON bool) error {
	b := e.newBar("fsck", 0)
	report, err := bucketdb.Check(ctx, store, &bucketdb.CheckOptions{
		Read:    read,
		Problem: func(err error) { b.printf("damaged: %s", explain(err)) },
		Progress: func(p bucketdb.Progress) {
			b.setTotal(p.Bytes)
			b.set(p.Bytes)
		},
	})
	b.done(report.Bytes)
	if err != nil {
		return stopped(ctx, err, "the check did not finish")
	}
	if asJSON {
		outcome := fsckOutcome{
			report.Revision, report.Batches, report.Packs, report.Chunks, report.Payloads, report.Transactions,
			report.Bytes, report.Stored, report.Unnamed, report.Bundles, report.Damaged, nil,
		}
		for _, problem := range report.Problems {
			outcome.Problems = append(outcome.Problems, explain(problem))
		}
		err = e.printJSON(outcome)
	} else if report.Damaged == 0 {
		e.println(fscked(report, read))
	}
	if err == nil && report.Damaged > 0 {
		err = errors.New(plural(report.Damaged, "thing is damaged", "things are damaged") +
			"; a database file that has everything can be pushed to another place")
	}
	return err
}

// fscked says what a check without problems saw.
func fscked(r *bucketdb.CheckReport, read bool) string {
	text := "No damage: " + plural(r.Batches, "batch", "batches") + " up to revision " + strconv.FormatInt(r.Revision, 10) + ", " +
		plural(r.Packs, "pack", "packs") + " of " + plural(r.Chunks, "chunk", "chunks")
	if read {
		return text + ", all read back."
	}
	return text + ", all there; --read reads them back."
}
