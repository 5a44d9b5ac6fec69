package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newImportCommand(e *env) *cobra.Command {
	var flags transferFlags
	cmd := &cobra.Command{
		Use:   "import FILE DIR [PATH]",
		Short: "Copy a local directory's files and directories into the database",
		Long: `Copy what is in the local directory DIR into the directory PATH of the database
(its root by default), which is made when it is missing, like FILE itself.

Content that is stored already is not stored again, and files that have it keep
their revision; others get a new version. Symbolic links are kept as links and
never followed; special files are skipped and reported. What fails is reported, and
the rest goes on. Run it again after an interruption, and it takes up where it
stopped.`,
		Example: `  stardust import photos.stardust ~/Pictures
  stardust import work.stardust src projects/app`,
		Args:    arguments(2, 3),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.runImport(cmd.Context(), e, args[0], args[1], cleanPath(argument(args, 2)))
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal, completePath),
	}
	flags.addFlags(cmd)
	return cmd
}

func (t *transferFlags) runImport(ctx context.Context, e *env, file, from, into string) error {
	t.quiet = e.quiet
	if err := t.check(); err != nil {
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
	err = e.write(ctx, file, true, func(s *session) error {
		entity, _, err := s.makeDirectories(into)
		if err != nil {
			return err
		}
		source := root.FS()
		b := e.newBar("import", 0)
		scanned := scan(ctx, source, b)
		report, err := s.tree.Import(ctx, source, entity, &stardust.ImportOptions{
			Workers: t.workers, Progress: t.progress(b), Problem: t.problem(b),
		})
		scanned()
		b.done(report.Bytes)
		return t.finish(ctx, e, "Imported", "into "+absolute(into), report, err)
	})
	return stopped(ctx, err, "run the same command again to go on")
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

// scan finds out how many bytes there are, for a bar that is shown, while the
// import goes on. The caller calls what it returns to end it and wait for it.
func scan(ctx context.Context, source fs.FS, b *bar) (end func()) {
	if b.progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		total := int64(0)
		// What cannot be read is the import's to report.
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
