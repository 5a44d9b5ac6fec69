package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/slatedb"
)

func newMirrorWarmCommand(e *env) *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use:   "warm",
		Short: "Download what the mirror should have and lacks",
		Example: `  stardust mirror warm --upstream s3://bucket --dir /var/lib/mirror --policy all --prefix db/
  stardust mirror warm --upstream s3://bucket --dir /var/lib/mirror --policy slatedb --root db`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := f.policy.check(cmd); err != nil {
				return err
			}
			return f.warm(cmd.Context(), e)
		},
	}
	f.addFlags(cmd)
	f.policy.addFlags(cmd)
	return cmd
}

func (f *mirrorFlags) warm(ctx context.Context, e *env) error {
	policy, err := f.policy.build()
	if err != nil {
		return err
	}
	root, err := f.policy.slateRoot()
	if err != nil {
		return err
	}
	if f.policy.name == "lru" {
		return usagef("--policy lru keeps what is read, so there is nothing to warm")
	}
	if f.policy.name == "slatedb" && root == nil {
		return usagef("--policy slatedb needs --root to know which database to warm")
	}
	return f.open(ctx, e, policy, func(m *mirror.Mirror) error {
		watch := e.watchDownloads(ctx, m)
		var err error
		switch f.policy.name {
		case "slatedb":
			_, err = slatedb.LatestManifest(ctx, m, *root)
		case "rules":
			err = f.warmRules(ctx, m)
		default:
			err = mirror.Warm(ctx, m.Handle(), f.policy.prefix)
		}
		stats := watch.done()
		if err != nil {
			return stopped(ctx, aboutStore(f.upstream, err), "what was downloaded stays; run the same command again to continue")
		}
		e.printf("%s local (%s), %s downloaded (%s).\n", objects(stats.Objects), humanSize(stats.Bytes),
			objects(stats.Counters.Downloads), humanSize(stats.DownloadedBytes))
		return nil
	})
}

func objects(n int64) string { return plural(n, "object", "objects") }
