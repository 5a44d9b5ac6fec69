package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// salvageOutcome is a salvage's report as --json prints it.
type salvageOutcome struct {
	Files         int64      `json:"files"`
	Directories   int64      `json:"directories"`
	Payloads      int64      `json:"payloads"`
	Bytes         int64      `json:"bytes"`
	Transactions  int64      `json:"transactions"`
	DamagedPages  int64      `json:"damagedPages"`
	DamagedChunks int64      `json:"damagedChunks"`
	LogWhole      bool       `json:"logWhole"`
	Doubt         string     `json:"doubt,omitempty"`
	LostFiles     []lostFile `json:"lostFiles,omitempty"`
	Incomplete    []string   `json:"incomplete,omitempty"`
	Unsure        []int64    `json:"unsure,omitempty"`
	Orphans       []string   `json:"orphans,omitempty"`
}

type lostFile struct {
	Entity int64  `json:"entity"`
	Path   string `json:"path"`
	Digest string `json:"digest,omitempty"`
}

func newSalvageCommand(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "salvage FILE NEW",
		Short: "Save what is left of a damaged database in a new one",
		Long: `Make the new database NEW of everything that the damaged FILE still proves, page by page
and chunk by chunk: names, versions and content. FILE is only read. What is lost is
listed, and the exit code is 1 then; what has lost its place is in lost+found.`,
		Example: `  stardust salvage photos.stardust rescued.stardust`,
		Args:    arguments(2, 2),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSalvage(cmd.Context(), e, args[0], args[1], asJSON)
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func runSalvage(ctx context.Context, e *env, from, to string, asJSON bool) error {
	b := e.newBar("salvage", 0)
	report, err := stardust.Salvage(ctx, from, to, &stardust.SalvageOptions{
		Progress: func(p stardust.SalvageProgress) {
			b.setTotal(p.Size + p.Total)
			b.set(p.Read + p.Saved)
		},
	})
	b.done(0)
	if err != nil {
		return stopped(ctx, err, "no new database was made")
	}
	if asJSON {
		if err := e.printJSON(newSalvageOutcome(report)); err != nil {
			return err
		}
	} else {
		e.printSalvage(report, to)
	}
	if !report.Lossless() {
		return errors.New("not everything could be saved; restore what is lost from a backup")
	}
	return nil
}

func newSalvageOutcome(r *stardust.SalvageReport) salvageOutcome {
	o := salvageOutcome{
		Files: r.Files, Directories: r.Directories, Payloads: r.Payloads, Bytes: r.Bytes,
		Transactions: r.Transactions, DamagedPages: r.DamagedPages, DamagedChunks: r.DamagedChunks,
		LogWhole: r.LogWhole, Unsure: r.Unsure,
	}
	if r.Doubt != nil {
		o.Doubt = r.Doubt.Error()
	}
	for _, lost := range r.LostFiles {
		l := lostFile{Entity: lost.Entity, Path: lost.Path}
		if lost.Digest != (stardust.Digest{}) {
			l.Digest = lost.Digest.String()
		}
		o.LostFiles = append(o.LostFiles, l)
	}
	for _, d := range r.Incomplete {
		o.Incomplete = append(o.Incomplete, d.String())
	}
	for _, d := range r.Orphans {
		o.Orphans = append(o.Orphans, d.String())
	}
	return o
}

// printSalvage prints a report for people.
func (e *env) printSalvage(r *stardust.SalvageReport, to string) {
	for _, lost := range r.LostFiles {
		e.println("lost: " + e.name(lost.Path))
	}
	if r.Doubt != nil {
		e.printf("The latest commits may be missing: %v.\n", r.Doubt)
	}
	if !r.LogWhole {
		e.println("Some transactions are lost; earlier versions and times may be missing.")
	}
	if n := len(r.Unsure) + len(r.Orphans); n > 0 {
		e.printf("In lost+found: %s not known to be the latest, %s without a name.\n",
			plural(int64(len(r.Unsure)), "file or directory", "files and directories"),
			plural(int64(len(r.Orphans)), "payload", "payloads"))
	}
	e.printf("Saved %s and %s (%s of content) in %s; %s and %s were damaged.\n",
		plural(r.Files, "file", "files"), plural(r.Directories, "directory", "directories"), humanSize(r.Bytes), e.name(to),
		plural(r.DamagedPages, "page", "pages"), plural(r.DamagedChunks, "chunk", "chunks"))
}

// repairedName is what check --repair calls the new file until it replaces the
// damaged one, which is damagedName from then on.
func repairedName(file string) string { return file + ".repaired" }

func damagedName(file string) string { return file + ".damaged" }

// repair puts what is left of a damaged database in its place, and keeps the
// damaged one beside it.
func repair(ctx context.Context, e *env, file string) error {
	aside := damagedName(file)
	for _, suffix := range append(sideSuffixes(file), "") {
		if path := aside + suffix; isThere(path) {
			return fmt.Errorf("%s is there already; it would keep the damaged database: move it away", path)
		}
	}
	lost := runSalvage(ctx, e, file, repairedName(file), false)
	if !isThere(repairedName(file)) {
		return lost
	}
	if err := swap(file, aside, repairedName(file)); err != nil {
		return err
	}
	e.printf("%s is repaired; the damaged one is %s.\n", e.name(file), e.name(aside))
	return lost
}
