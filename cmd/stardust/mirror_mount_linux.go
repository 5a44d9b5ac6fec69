package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/gateway/storemount"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/slatedb"
)

// mirrorMountFlags are those of mirror mount.
type mirrorMountFlags struct {
	mirrorFlags
	refresh    time.Duration
	unchecked  bool
	allowOther bool
}

func newMirrorMountCommand(e *env) *cobra.Command {
	var f mirrorMountFlags
	cmd := &cobra.Command{
		Use:   "mount DIR",
		Short: "Show a bucket as a directory, read-only, through its mirror",
		Long: `Show a bucket as the local directory DIR, read-only, by FUSE, until SIGINT, SIGTERM or
umount ends it. Names come from the bucket, contents through the mirror in --dir: what
its policy keeps is downloaded whole, once, and read from the local disk from then on.
docs/mount.md says which keys are no paths.`,
		Example: `  stardust mirror mount --upstream s3://bucket --dir /var/lib/mirror --policy lru --limit 10GiB /mnt/bucket
  stardust mirror mount --upstream s3://bucket --dir /var/lib/mirror --policy all --prefix models/ /mnt/bucket`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := f.policy.check(cmd); err != nil {
				return err
			}
			if f.refresh < 0 {
				return usagef("--refresh %v: it cannot be negative", f.refresh)
			}
			return f.run(cmd.Context(), e, args[0])
		},
		ValidArgsFunction: e.complete(completeLocal),
	}
	f.addFlags(cmd)
	f.policy.addFlags(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&f.scan, "scan-interval", 0, "how often to look for objects deleted upstream (0: 10m, negative: never)")
	flags.DurationVar(&f.refresh, "refresh", storemount.DefaultRefresh, "how long names and sizes count as current before the bucket is asked again")
	flags.BoolVar(&f.unchecked, "no-verification", false, "show local bytes without checking them")
	flags.BoolVar(&f.allowOther, "allow-other", false, "let other users in")
	return cmd
}

// keep returns the policy. Unlike a short command, a mount warms.
func (f *mirrorMountFlags) keep() (mirror.Policy, error) {
	switch f.policy.name {
	case "all":
		return &mirror.KeepAll{Prefix: f.policy.prefix}, nil
	case "slatedb":
		root, err := f.policy.slateRoot()
		if err != nil {
			return nil, err
		}
		return slatedb.NewPolicy(&slatedb.PolicyOptions{Root: root, PathTags: true, TolerateLostSSTs: true}), nil
	}
	return f.policy.build()
}

func (f *mirrorMountFlags) run(ctx context.Context, e *env, dir string) error {
	policy, err := f.keep()
	if err != nil {
		return err
	}
	options := mirror.Options{
		RemoteScanInterval: max(f.scan, 0), WithoutRemoteScan: f.scan < 0, Verify: !f.unchecked, Logger: e.serviceLogger(),
	}
	return f.openWith(ctx, e, policy, options, func(m *mirror.Mirror) error {
		shown, err := storemount.New(m, dir, &storemount.Options{Refresh: f.refresh, AllowOther: f.allowOther, Log: e.serviceLogger()})
		if err != nil {
			return err
		}
		e.notice("mounted %s on %s, read-only; interrupt, or umount it, to end", redacted(f.upstream), dir)
		wait := func() error {
			shown.Wait()
			return nil
		}
		return untilUnmounted(ctx, wait, shown.Unmount)
	})
}
