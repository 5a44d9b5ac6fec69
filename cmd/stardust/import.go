package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// importing is what the flags of import say.
type importing struct {
	transferFlags
	delete     bool
	patterns   patterns
	skipCaches bool
	oneDevice  bool
	excluded   bool // removed, too
	dryRun     bool
	readAll    bool
	message    string
	tag        string
	preserve   preserve
}

func newImportCommand(e *env) *cobra.Command {
	var im importing
	cmd := &cobra.Command{
		Use:   "import FILE DIR [PATH]",
		Short: "Copy a local directory's files and directories into the database",
		Long: `Copy what is in the local directory DIR into the directory PATH of the database
(its root by default), which is made when it is missing, like FILE itself.

Content that is stored already is not stored again, and files that have it keep
their revision; others get a new version. Files whose size, times and inode are as
an earlier import saw them are not read again, unless with --read-all. Symbolic
links are kept as links and never followed; special files are skipped and reported.
What fails is reported, and the rest goes on. Run it again after an interruption,
and it takes up where it stopped.

With --delete, PATH holds in the end what DIR holds and nothing else: what is gone
is removed, renamed files are moved, and history keeps how it was. Patterns are
those of gitignore; the last one that matches decides, --include taking out what
an earlier one excludes.

Permissions and times are always kept, and where a file has holes. --preserve keeps
owner, user's extended attributes (xattrs), which files are hard links of one, and
with privileges the other extended attributes, such as capabilities.`,
		Example: `  stardust import photos.stardust ~/Pictures
  stardust import work.stardust src projects/app --delete --exclude '*.o' --dry-run`,
		Args:    arguments(2, 3),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			return im.run(cmd.Context(), e, args[0], args[1], cleanPath(argument(args, 2)))
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal, completePath),
	}
	im.addFlags(cmd)
	im.addSelection(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&im.delete, "delete", false, "remove from PATH what DIR does not have")
	flags.BoolVar(&im.excluded, "delete-excluded", false, "--delete, and remove from PATH what the patterns leave out")
	flags.BoolVarP(&im.dryRun, "dry-run", "n", false, "print what would change, and change nothing")
	flags.StringVarP(&im.message, "message", "m", "", "message for the import's revision in the history")
	flags.StringVar(&im.tag, "tag", "", "give the import's revision this name")
	flags.BoolVar(&im.readAll, "read-all", false, "also read files that seem unchanged")
	return cmd
}

// addSelection adds the flags that say what is imported, and what of it.
func (im *importing) addSelection(cmd *cobra.Command) {
	im.patterns.addFlags(cmd)
	cmd.Flags().BoolVar(&im.skipCaches, "exclude-caches", false, "leave out what is in directories with a CACHEDIR.TAG")
	cmd.Flags().BoolVarP(&im.oneDevice, "one-file-system", "x", false, "leave out what is on other file systems than DIR")
	preserveFlag(cmd, &im.preserve, "keep")
}

func (im *importing) run(ctx context.Context, e *env, file, from, into string) error {
	im.quiet = e.quiet
	if err := im.check(); err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return openFailure(file, errIsDirectory)
	}
	root, err := openLocalDirectory(from)
	if err != nil {
		return err
	}
	defer root.Close()
	if im.dryRun {
		return im.plan(ctx, e, file, from, root, into)
	}
	err = e.write(ctx, file, true, func(s *session) error {
		entity, _, err := s.makeDirectories(into)
		if err != nil {
			return err
		}
		return im.transfer(ctx, e, s, from, root, entity, into)
	})
	return stopped(ctx, err, "run the same command again to continue")
}

// plan is a dry run. If the database or the directory in it would have to be
// made, it uses an empty one instead.
func (im *importing) plan(ctx context.Context, e *env, file, from string, root *os.Root, into string) error {
	missing := false
	err := e.readOrNothing(ctx, file, func(s *session) error {
		r, err := s.directoryAt(into)
		if missing = isMissing(err); err != nil {
			return err
		}
		return im.transfer(ctx, e, s, from, root, r.Entity, into)
	})
	if missing {
		err = e.readOrNothing(ctx, "", func(s *session) error {
			return im.transfer(ctx, e, s, from, root, 0, into)
		})
	}
	return err
}

// transfer runs the import.
func (im *importing) transfer(ctx context.Context, e *env, s *session, from string, root *os.Root, entity int64, into string) error {
	source := root.FS()
	b := e.newBar("import", 0)
	scanned := scan(ctx, source, b)
	before, err := s.db.Snapshot()
	if err != nil {
		return err
	}
	options := &stardust.ImportOptions{
		Workers: im.workers, Progress: im.progress(b), Problem: im.problem(b),
		Delete: im.delete, DeleteExcluded: im.excluded, Exclude: im.patterns, SkipCaches: im.skipCaches, OneFileSystem: im.oneDevice,
		ReadAll: im.readAll, DryRun: im.dryRun, Message: im.message,
		Change:   im.change(e, func(path string) string { return absolute(join(into, path)) }, im.dryRun),
		Preserve: stardust.Preserve(im.preserve),
	}
	if options.Source, err = filepath.Abs(from); err == nil {
		options.IndexDir = e.indexes
	}
	report, err := s.tree.Import(ctx, source, entity, options)
	scanned()
	b.done(report.Bytes)
	verb := "Imported"
	if im.dryRun {
		verb = "Would import"
	}
	if err == nil && im.tag != "" && !im.dryRun {
		err = s.db.SetTag(ctx, im.tag, report.Revision)
	}
	err = im.finish(ctx, e, verb, "into "+absolute(into), report, err)
	if !im.json && err == nil && !im.dryRun {
		as := ""
		if report.Revision == before.Revision() {
			as = ", as before"
		}
		e.printf("Revision %d%s.\n", report.Revision, as)
	}
	return err
}

// indexDir is where imports remember what they saw, or empty if there is no
// place.
func indexDir() string {
	caches, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(caches, "stardust", "imports")
}

// openLocalDirectory opens a directory so that nothing outside it can be reached
// through it.
func openLocalDirectory(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = about(path, errors.New("is not a directory; stardust put stores single files"))
	}
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// scan counts the bytes for the bar, if it is shown, while the import goes on.
// The caller calls the function returned to end it and wait for it.
func scan(ctx context.Context, source fs.FS, b *bar) (end func()) {
	if b.progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		total := int64(0)
		// The import reports what cannot be read.
		_ = fs.WalkDir(source, ".", func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				if info, err := entry.Info(); err == nil {
					total += info.Size()
					b.setTotal(total)
				}
			}
			return ctx.Err()
		})
	})
	return func() {
		cancel()
		running.Wait()
	}
}
