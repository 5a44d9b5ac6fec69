package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// transferFlags are those that import and export share.
type transferFlags struct {
	workers  int
	problems int
	json     bool
	quiet    bool // no word of what is skipped
}

func (t *transferFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&t.workers, "workers", 0, "handle this many files at a time (0: one per processor)")
	cmd.Flags().IntVar(&t.problems, "problems", 20, "list at most this many failures, and this many skipped things (0: all)")
	cmd.Flags().BoolVar(&t.json, "json", false, "print the outcome as a JSON document")
}

// check refuses numbers that make no sense.
func (t *transferFlags) check() error {
	if t.workers < 0 || t.workers > 1024 {
		return usagef("--workers %d: it can be 0 to 1024", t.workers)
	}
	if t.problems < 0 {
		return usagef("--problems %d: it cannot be negative", t.problems)
	}
	return nil
}

// progress shows how far a transfer has come on the bar.
func (t *transferFlags) progress(b *bar) func(stardust.Progress) {
	return func(p stardust.Progress) { b.set(p.Bytes) }
}

// problem prints problems above the bar: failures and skipped things, each up
// to the limit, so that a failure among many skipped links is seen.
func (t *transferFlags) problem(b *bar) func(stardust.Problem) {
	var failed, skipped int
	return func(p stardust.Problem) {
		what, count := "failed", &failed
		if p.Skipped {
			what, count = "skipped", &skipped
			if t.quiet {
				return
			}
		}
		if *count++; t.problems > 0 && *count > t.problems {
			return
		}
		b.printf("%s: %s: %s", what, quote(p.Path), explainWithout(p.Path, p.Err))
	}
}

// unlisted says how many problems were not printed.
func (t *transferFlags) unlisted(r *stardust.TransferReport) string {
	var parts []string
	for _, kind := range []struct {
		count     int64
		one, many string
	}{{r.Failed, "failure", "failures"}, {r.Skipped, "skipped thing", "skipped things"}} {
		if more := kind.count - int64(t.problems); t.problems > 0 && more > 0 {
			parts = append(parts, plural(more, "more "+kind.one, "more "+kind.many))
		}
	}
	return strings.Join(parts, " and ")
}

// explainWithout explains an error without its path, which was printed already.
func explainWithout(path string, err error) string {
	return strings.TrimPrefix(explain(err), path+": ")
}

// finish prints what a transfer did and returns the error that it ends with.
func (t *transferFlags) finish(ctx context.Context, e *env, verb, where string, r *stardust.TransferReport, err error) error {
	if more := t.unlisted(r); more != "" {
		e.notice("and %s not listed; --problems 0 lists all", more)
	}
	if t.json {
		if failed := e.printJSON(newOutcome(r)); failed != nil {
			return failed
		}
	} else if err == nil {
		rare := ""
		if r.Moved > 0 {
			rare += fmt.Sprintf("%d moved, ", r.Moved)
		}
		if r.Removed > 0 {
			rare += fmt.Sprintf("%d removed, ", r.Removed)
		}
		e.printf("%s %s (%s) %s: %d new, %d changed, %s%d unchanged, %d skipped, %d failed.\n",
			verb, files(done(r)), humanSize(r.Bytes), printable(where),
			r.Created, r.Updated, rare, r.Unchanged, r.Skipped, r.Failed)
	}
	if err != nil {
		note := fmt.Sprintf("%s done so far; run the same command again to continue", files(done(r)))
		return stopped(ctx, err, note)
	}
	if r.Failed > 0 {
		return errors.New(plural(r.Failed, "thing", "things") + " failed; everything else is done")
	}
	return nil
}

// done returns how many files a transfer has done.
func done(r *stardust.TransferReport) int64 { return r.Created + r.Updated + r.Moved + r.Unchanged }

// changeLine is a change as log and diff print them. Place returns the path to
// print of one beneath what is transferred.
func changeLine(e *env, place func(string) string, c *stardust.TransferChange) string {
	line := mark(string(c.Action)) + " "
	if c.From != "" {
		line += e.name(place(c.From)) + " -> "
	}
	line += e.name(place(c.Path))
	if c.Directory {
		line += "/"
	}
	return line
}

// change returns what prints changes in a dry run.
func (t *transferFlags) change(e *env, place func(string) string, dry bool) func(stardust.TransferChange) {
	if !dry || t.json {
		return nil
	}
	return func(c stardust.TransferChange) { e.println(changeLine(e, place, &c)) }
}

// outcome is a transfer's report as --json prints it.
type outcome struct {
	Directories int64            `json:"directories"`
	Files       int64            `json:"files"`
	Bytes       int64            `json:"bytes"`
	Created     int64            `json:"created"`
	Updated     int64            `json:"updated"`
	Unchanged   int64            `json:"unchanged"`
	Moved       int64            `json:"moved,omitempty"`
	Removed     int64            `json:"removed,omitempty"`
	Skipped     int64            `json:"skipped"`
	Failed      int64            `json:"failed"`
	Revision    int64            `json:"revision,omitempty"`
	Problems    []outcomeProblem `json:"problems,omitempty"`
}

// outcomeProblem is one problem of an outcome. Its path is escaped, because
// local names may be no UTF-8, which JSON cannot hold.
type outcomeProblem struct {
	Path    string `json:"path"`
	Reason  string `json:"reason"`
	Skipped bool   `json:"skipped"`
}

func newOutcome(r *stardust.TransferReport) outcome {
	o := outcome{
		Directories: r.Directories, Files: r.Files, Bytes: r.Bytes,
		Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged,
		Moved: r.Moved, Removed: r.Removed, Skipped: r.Skipped, Failed: r.Failed, Revision: r.Revision,
	}
	for _, p := range r.Problems {
		o.Problems = append(o.Problems, outcomeProblem{
			printable(p.Path), printable(explainWithout(p.Path, p.Err)), p.Skipped,
		})
	}
	return o
}
