package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/transfer"
	"github.com/stardustdb/stardust/internal/transfer/watch"
)

// How long watch waits: for more changes, for a database that is in use.
const (
	watchMost  = 10 * time.Second
	watchRetry = 2 * time.Second
)

// watching is what the flags of watch say.
type watching struct {
	importing
	quietTime time.Duration
	file      string
	from      string
	into      string
	start     fs.FileInfo // of from
}

func newWatchCommand(e *env) *cobra.Command {
	var w watching
	cmd := &cobra.Command{
		Use:   "watch FILE DIR [PATH]",
		Short: "Import a local directory's files as they change",
		Long: `Import the local directory DIR into the directory PATH of the database (its root by
default), and then what changes in it, until the command is interrupted. Changes that
follow each other closely are one batch, and each batch is one commit where it is not
very large. The database is open only while a batch is stored, so other commands can
write, too. DIR FILE:/PATH is understood as well.

With --delete, what is removed from DIR is removed from PATH, and what is renamed is
moved; without it, nothing ever leaves PATH. A file that changes while it is read
comes again with a later batch. When the system loses sight of something, because too
much happens at once or a directory moves, everything is looked at again.

An interruption finishes the batch, stores what changed until then, and exits with 0.`,
		Example: `  stardust watch notes.stardust ~/notes --delete
  stardust watch work.stardust src projects/app --delete --exclude '*.o'`,
		Args:    arguments(2, 3),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			w.file, w.from, w.into = args[0], args[1], cleanPath(argument(args, 2))
			w.turn(len(args))
			return w.watch(cmd.Context(), e)
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal, completePath),
	}
	flags := cmd.Flags()
	w.addFlags(cmd)
	flags.BoolVar(&w.delete, "delete", false, "remove from PATH what is removed from DIR")
	w.addSelection(cmd)
	flags.DurationVar(&w.quietTime, "settle", 500*time.Millisecond, "a batch is complete when nothing changed for so long")
	return cmd
}

// turn takes the arguments in the other order: DIR FILE[:/PATH].
func (w *watching) turn(args int) {
	one, err := os.Stat(w.file)
	two, missing := os.Stat(w.from)
	if args != 2 || err != nil || !one.IsDir() || missing == nil && two.IsDir() {
		return
	}
	file, path, _ := strings.Cut(w.from, ":/")
	w.file, w.from, w.into = file, w.file, cleanPath(path)
}

func (w *watching) watch(ctx context.Context, e *env) error {
	w.quiet = e.quiet
	if err := w.check(); err != nil {
		return err
	}
	if w.quietTime < 0 || w.quietTime > watchMost {
		return usagef("--settle %v: it can be 0 to %v", w.quietTime, watchMost)
	}
	if info, err := os.Stat(w.file); err == nil && info.IsDir() {
		return openFailure(w.file, errIsDirectory)
	}
	root, err := openLocalDirectory(w.from)
	if err != nil {
		return err
	}
	w.start, err = root.Stat(".")
	_ = root.Close() // nothing was written through it
	if err != nil {
		return err
	}
	rules := new(transfer.Rules)
	for _, pattern := range w.patterns {
		if err := rules.Add(pattern); err != nil {
			return err
		}
	}
	err = watch.Run(ctx, watch.Options{
		Dir: w.from, Skip: w.skipper(rules), Quiet: w.quietTime, Most: max(watchMost, w.quietTime), Retry: watchRetry, Now: e.now,
	}, func(ctx context.Context, b watch.Batch) ([]string, error) { return w.batch(ctx, e, b) })
	if limit, ok := errors.AsType[*watch.LimitError](err); ok {
		return fmt.Errorf("%w (such as: sysctl %s=1048576), with --exclude", limit, limit.Limit)
	}
	if ctx.Err() != nil && interrupted(err) {
		e.notice("interrupted while everything was looked at; what was read is stored, and the next watch goes on")
		return nil
	}
	return err
}

func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, stardust.StatusCanceled)
}

// skipper tells what is not worth a batch: what is excluded, what exports write, and
// the database itself, which changes with every batch.
func (w *watching) skipper(rules *transfer.Rules) func(string, bool) bool {
	own := make(map[string]bool)
	if file, err := filepath.Abs(w.file); err == nil {
		for _, suffix := range append(allSideSuffixes(), "", "-journal") {
			own[file+suffix] = true
		}
	}
	dir, err := filepath.Abs(w.from)
	return func(path string, directory bool) bool {
		if path == "." {
			return false
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if err == nil && own[filepath.Join(dir, filepath.FromSlash(path))] || !directory && transfer.IsTemporary(name) {
			return true
		}
		return rules.MatchAny(path) || directory && rules.Match(path, true)
	}
}

// batch stores what changed.
func (w *watching) batch(ctx context.Context, e *env, b watch.Batch) (again []string, err error) {
	root, err := openLocalDirectory(w.from)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(w.start, now) {
		err = about(quote(w.from), errors.New("is another directory now; nothing of it is stored"))
	}
	if err != nil {
		return nil, err
	}
	err = e.write(ctx, w.file, true, func(s *session) error {
		entity, _, err := s.makeDirectories(w.into)
		if err != nil {
			return err
		}
		before, err := s.db.Snapshot()
		if err != nil {
			return err
		}
		options := w.options(e, b)
		show := w.problem(e.newBar("watch", 0))
		options.Problem = func(p stardust.Problem) {
			if errors.Is(p.Err, transfer.ErrChanged) {
				again = append(again, p.Path)
				return
			}
			show(p)
		}
		report, err := s.tree.Import(ctx, root.FS(), entity, options)
		if err == nil && (b.All || report.Revision != before.Revision()) {
			w.say(e, report, len(again))
		}
		return err
	})
	var busy *stardust.Error
	if errors.As(err, &busy) && busy.Code == stardust.CodeInUse {
		e.notice("%s; trying again", explain(err))
		return nil, fmt.Errorf("%w: %w", watch.ErrLater, err)
	}
	return again, err
}

// options are those of a batch's import.
func (w *watching) options(e *env, b watch.Batch) *stardust.ImportOptions {
	o := &stardust.ImportOptions{
		Workers: w.workers, Delete: w.delete, Exclude: w.patterns, SkipCaches: w.skipCaches,
		OneFileSystem: w.oneDevice, Preserve: stardust.Preserve(w.preserve),
	}
	if !b.All {
		o.Only = b.Paths
		return o
	}
	if source, err := filepath.Abs(w.from); err == nil {
		o.Source, o.IndexDir = source, e.indexes
	}
	return o
}

// say prints what became of a batch, at once.
func (w *watching) say(e *env, r *stardust.TransferReport, changing int) {
	if w.json {
		_ = e.printJSON(newOutcome(r)) // a broken stream shows below
	} else {
		e.printf("Revision %d: %d new, %d changed, %d moved, %d removed, %d failed.\n",
			r.Revision, r.Created, r.Updated, r.Moved, r.Removed, r.Failed-int64(changing))
	}
	_ = e.out.Flush() // shows at the end
}
