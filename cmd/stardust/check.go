package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// checkOutcome is a check's report as --json prints it.
type checkOutcome struct {
	Chunks       int64    `json:"chunks"`
	Bytes        int64    `json:"bytes"`
	Payloads     int64    `json:"payloads"`
	Nodes        int64    `json:"nodes"`
	Versions     int64    `json:"versions"`
	Transactions int64    `json:"transactions"`
	Damaged      int64    `json:"damaged"`
	Problems     []string `json:"problems,omitempty"`
}

func newCheckCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Verify the whole database",
		Long: `Verify the tables of the database, the tree, the history, and every chunk against
its digest. It reads only, also while others write. Each thing that is damaged is
listed, and the exit code is 1 then.`,
		Example: `  stardust check photos.stardust`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.read(cmd.Context(), args[0], nil, func(s *session) error {
				return runCheck(cmd.Context(), e, s, asJSON)
			})
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func runCheck(ctx context.Context, e *env, s *session, asJSON bool) error {
	b := e.newBar("check", 0)
	report, err := s.db.Check(ctx, &stardust.CheckOptions{
		Progress: b.check,
		Problem:  func(err error) { b.printf("damaged: %s", explain(err)) },
	})
	b.done(report.Bytes)
	if err != nil {
		return stopped(ctx, err, "the check did not come to its end; what it read so far is listed above, if damaged")
	}
	if asJSON {
		outcome := checkOutcome{
			report.Chunks, report.Bytes, report.Payloads, report.Nodes,
			report.Versions, report.Transactions, report.Damaged, nil,
		}
		for _, problem := range report.Problems {
			outcome.Problems = append(outcome.Problems, explain(problem))
		}
		err = e.printJSON(outcome)
	} else if report.Damaged == 0 {
		e.println(checked(report))
	}
	if err == nil && report.Damaged > 0 {
		err = errors.New(plural(report.Damaged, "thing is damaged", "things are damaged") +
			"; everything else can be read, and storing a damaged file's content again heals it")
	}
	return err
}

// checked says what a check without problems saw.
func checked(r *stardust.CheckReport) string {
	return "No damage: " + plural(r.Chunks, "chunk", "chunks") + " (" + humanSize(r.Bytes) + ") of " +
		plural(r.Payloads, "payload", "payloads") + ", " +
		plural(r.Nodes, "file and directory", "files and directories") + " with " +
		plural(r.Versions, "earlier version", "earlier versions") + ", " +
		plural(r.Transactions, "transaction", "transactions") + "."
}

// check shows the progress of a check or backup.
func (b *bar) check(p stardust.CheckProgress) {
	b.setTotal(p.TotalBytes)
	b.set(p.Bytes)
}
