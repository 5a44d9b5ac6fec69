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
	var asJSON, mend bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Verify the whole database",
		Long: `Verify the tables of the database, the tree, the history, and every chunk against
its digest. It reads only, also while others write. Each thing that is damaged is
listed, and the exit code is 1 then. With --repair, what is left of a damaged database
takes its place, as salvage saves it; the damaged one is kept as FILE.damaged.`,
		Example: `  stardust check photos.stardust
  stardust check --repair photos.stardust`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			if mend && asJSON {
				return &usageError{errors.New("--repair and --json: choose one of them")}
			}
			damaged := false
			err := e.read(cmd.Context(), args[0], nil, func(s *session) (err error) {
				damaged, err = runCheck(cmd.Context(), e, s, asJSON)
				return err
			})
			if mend && (damaged || errors.Is(err, stardust.StatusEvaluationFailed)) {
				e.notice("%v", err)
				return repair(cmd.Context(), e, args[0])
			}
			return err
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&mend, "repair", false, "replace a damaged database by what is left of it")
	return cmd
}

// runCheck reports what is damaged, and whether anything is.
func runCheck(ctx context.Context, e *env, s *session, asJSON bool) (damaged bool, err error) {
	b := e.newBar("check", 0)
	report, err := s.db.Check(ctx, &stardust.CheckOptions{
		Progress: b.check,
		Problem:  func(err error) { b.printf("damaged: %s", explain(err)) },
	})
	b.done(report.Bytes)
	if err != nil {
		return false, stopped(ctx, err, "the check did not finish; what it found damaged so far is listed above")
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
			"; storing a damaged file's content again heals that, and salvage, or check --repair, saves all that is not damaged")
	}
	return report.Damaged > 0, err
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
