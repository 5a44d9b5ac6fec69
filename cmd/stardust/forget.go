package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// forget is what the flags of the command say.
type forget struct {
	stardust.ForgetOptions
	within string
	json   bool
	sizes
}

func newForgetCommand(e *env) *cobra.Command {
	var f forget
	cmd := &cobra.Command{
		Use:   "forget FILE",
		Short: "Forget old revisions, and free the space that only they used",
		Long: `End all revisions that no rule keeps, for good, and free the content that only they
had. Rules add up: a revision that any of them wants stays. Revisions that have a tag
stay, and so does the latest; the present is never changed. Content that was stored
and never named stays, too.

With --keep-daily 7, of each of the last seven days that have revisions the newest one
is kept, by this machine's time zone; so it is with the others. A number of -1 keeps
all. --keep-within takes a time such as 36h, 30d, 8w or 2y, and counts from the latest
revision.

A forgotten revision can't be read any more, and says so; a database that has forgotten
can't be pushed to a bucket. Freed space is used again by what is stored later; compact
gives it back to the file system. --dry-run lists what would stay and what would go.`,
		Example: `  stardust forget photos.stardust --keep-last 3 --keep-daily 7 --keep-weekly 8 --dry-run
  stardust forget photos.stardust --keep-within 90d --keep-monthly -1`,
		Args:    arguments(1, 1),
		GroupID: groupPast,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := f.parse(); err != nil {
				return err
			}
			run := func(s *session) error { return f.run(ctx, e, s) }
			if f.DryRun {
				return e.read(ctx, args[0], nil, run)
			}
			return e.write(ctx, args[0], false, run)
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.KeepLast, "keep-last", 0, "keep this many of the newest revisions")
	flags.IntVar(&f.KeepHourly, "keep-hourly", 0, "keep the newest revision of each of this many hours")
	flags.IntVar(&f.KeepDaily, "keep-daily", 0, "keep the newest revision of each of this many days")
	flags.IntVar(&f.KeepWeekly, "keep-weekly", 0, "keep the newest revision of each of this many weeks")
	flags.IntVar(&f.KeepMonthly, "keep-monthly", 0, "keep the newest revision of each of this many months")
	flags.IntVar(&f.KeepYearly, "keep-yearly", 0, "keep the newest revision of each of this many years")
	flags.StringVar(&f.within, "keep-within", "", "keep all revisions that are at most this much older than the latest")
	flags.BoolVar(&f.DryRun, "dry-run", false, "only list what would stay and what would go")
	jsonFlag(cmd, &f.json)
	f.addFlags(cmd)
	return cmd
}

// parse completes the options.
func (f *forget) parse() error {
	if f.within != "" {
		span, err := parseSpan(f.within)
		if err != nil {
			return err
		}
		f.KeepWithin = span
	}
	if f.ForgetOptions == (stardust.ForgetOptions{DryRun: f.DryRun}) {
		return usagef("say what to keep, such as --keep-last 10 or --keep-within 90d; --keep-last 1 keeps the latest revision alone")
	}
	f.Zone = time.Local
	return nil
}

// parseSpan reads a time such as 30d: days, weeks and years besides what Go has.
func parseSpan(text string) (time.Duration, error) {
	units := map[byte]int64{'d': 1, 'w': 7, 'y': 365}
	last := len(text) - 1
	if days, ok := units[text[last]]; ok {
		n, err := strconv.ParseInt(text[:last], 10, 32)
		if limit := int64(100 * 365); err == nil && n > 0 && n*days <= limit {
			return time.Duration(n*days) * 24 * time.Hour, nil
		}
	} else if span, err := time.ParseDuration(text); err == nil && span > 0 {
		return span, nil
	}
	return 0, usagef("--keep-within %s: is no time such as 36h, 30d, 8w or 2y", quote(text))
}

func (f *forget) run(ctx context.Context, e *env, s *session) error {
	report, err := s.db.Forget(ctx, &f.ForgetOptions)
	if err != nil {
		return stopped(ctx, err, "nothing was forgotten")
	}
	if f.json {
		return f.printJSON(e, report)
	}
	if f.DryRun {
		for _, r := range report.Revisions {
			fate := "forget"
			if r.Reasons != nil {
				fate = "keep    " + e.name(strings.Join(r.Reasons, ", "))
			}
			e.printf("revision %-8d %s  %s\n", r.ID, timestamp(r.Time), fate)
		}
	}
	verb, free, stay := "Forgot", "are free for new content", "are left"
	if f.DryRun {
		verb, free, stay = "Would forget", "would become free", "would be left"
	}
	e.printf("%s %s of %d: %s and %s.\n", verb, plural(report.Forgotten, "revision", "revisions"), report.Forgotten+report.Kept,
		plural(report.Versions, "earlier version", "earlier versions"), plural(report.Payloads, "payload", "payloads"))
	e.printf("%s in %s %s; %s %s.\n", f.format(e, report.ChunkBytes), plural(report.Chunks, "chunk", "chunks"), free,
		f.format(e, report.LeftBytes), stay)
	return nil
}

// forgetFate is a revision as --json prints it.
type forgetFate struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	Kept     []string  `json:"kept,omitempty"`
}

func (f *forget) printJSON(e *env, report *stardust.ForgetReport) error {
	out := struct {
		DryRun       bool         `json:"dryRun"`
		Kept         int64        `json:"kept"`
		Forgotten    int64        `json:"forgotten"`
		Versions     int64        `json:"versions"`
		Payloads     int64        `json:"payloads"`
		PayloadBytes int64        `json:"payloadBytes"`
		Chunks       int64        `json:"chunks"`
		ChunkBytes   int64        `json:"chunkBytes"`
		LeftBytes    int64        `json:"leftBytes"`
		Revisions    []forgetFate `json:"revisions,omitempty"`
	}{
		f.DryRun, report.Kept, report.Forgotten, report.Versions, report.Payloads, report.PayloadBytes,
		report.Chunks, report.ChunkBytes, report.LeftBytes, nil,
	}
	for _, r := range report.Revisions {
		out.Revisions = append(out.Revisions, forgetFate{r.ID, r.Time, r.Reasons})
	}
	if err := e.printJSON(out); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}
