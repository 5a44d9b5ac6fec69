package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/mount"
)

// mountFlags are those of mount.
type mountFlags struct {
	at         revision
	readOnly   bool
	allowOther bool
	drafts     string
}

func newMountCommand(e *env) *cobra.Command {
	var f mountFlags
	cmd := &cobra.Command{
		Use:   "mount FILE DIR",
		Short: "Show the database as a directory, for every program",
		Long: `Show the database as the local directory DIR, by FUSE, until SIGINT, SIGTERM or
umount ends it. What a program writes is one commit when it closes the file or asks for
fsync. Every revision is there too, read-only: DIR/.stardust/118.

With --read-only or --at others may write the database meanwhile, and it may be mounted
more than once. docs/mount.md says what file systems do and this one doesn't.`,
		Example: `  stardust mount work.stardust ~/work
  stardust mount work.stardust /mnt/then --at 118`,
		Args:    arguments(2, 2),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0], args[1])
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	flags := cmd.Flags()
	flags.Var(&f.at, "at", "show the tree as it was at this revision (see stardust log), read-only")
	flags.BoolVar(&f.readOnly, "read-only", false, "let nobody write there")
	flags.BoolVar(&f.allowOther, "allow-other", false, "let other users in, as permissions say")
	flags.StringVar(&f.drafts, "drafts", "", "directory for what is written and not committed yet (default: the database's own)")
	return cmd
}

func (f *mountFlags) run(ctx context.Context, e *env, file, dir string) error {
	show := func(s *session, snapshot *stardust.Snapshot, readOnly bool) error {
		options := &mount.Options{Snapshot: snapshot, ReadOnly: readOnly, AllowOther: f.allowOther, Drafts: f.drafts, Log: slog.New(slog.NewTextHandler(e.err, nil))}
		m, err := mount.New(s.db, dir, options)
		if err != nil {
			return err
		}
		e.notice("mounted %s on %s; interrupt, or umount it, to end", file, dir)
		return untilUnmounted(ctx, m.Wait, m.Unmount)
	}
	switch {
	case f.at.set:
		return e.read(ctx, file, nil, func(s *session) error {
			snapshot, err := f.at.view(s.db)
			if err != nil {
				return err
			}
			return show(s, snapshot, true)
		})
	case f.readOnly:
		return e.read(ctx, file, nil, func(s *session) error { return show(s, nil, true) })
	}
	return e.write(ctx, file, true, func(s *session) error { return show(s, nil, false) })
}

// untilUnmounted waits for the end of a mount, which it ends itself when ctx does.
func untilUnmounted(ctx context.Context, wait, unmount func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return unmount()
	}
}
