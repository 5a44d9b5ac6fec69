package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/bucketdb"
	"github.com/stardustdb/stardust/objectstore"
)

func newPushCommand(e *env) *cobra.Command {
	var at revision
	p := pushing{env: e}
	cmd := &cobra.Command{
		Use:   "push FILE [TO]",
		Short: "Send what is new in a database to a bucket, or to another file",
		Long: `Send what a database has, and the one at TO lacks, to a bucket or another file. TO is
a URL such as s3://bucket/path, a directory, or a database file; without it, it is
where FILE came from. The first push begins the database there. FILE may be in use.

What was pushed by then stays when a push is interrupted; the next one goes on there.
When each of the two has something that the other lacks, nothing is sent, and the
message says where they parted.`,
		Example: `  stardust push photos.stardust s3://backups/photos
  stardust push photos.stardust /mnt/usb/photos.stardust
  stardust push photos.stardust s3://backups/photos --at 1200
  stardust push photos.stardust s3://backups/photos --follow`,
		Args:    arguments(1, 2),
		GroupID: groupRemote,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := e.read(cmd.Context(), args[0], nil, func(s *session) error {
				to, err := otherPlace(cmd.Context(), s.db, args)
				if err != nil {
					return err
				}
				if p.at, err = at.of(s.db); err != nil {
					return err
				}
				return p.run(cmd.Context(), args[0], s.db, to)
			})
			return stopped(cmd.Context(), err, "what was pushed by then stays; run the same command again to continue")
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	cmd.Flags().BoolVar(&p.follow, "follow", false, "keep running and push what is committed later, until interrupted")
	cmd.Flags().DurationVar(&p.every, "every", time.Second, "with --follow, how often to look for something new")
	cmd.Flags().StringVar(&p.metrics, "metrics", "", "with --follow, serve Prometheus metrics at /metrics on this address")
	cmd.Flags().Var(&at, "at", "stop at this revision, tag or time, and leave out what only later commits name")
	cmd.MarkFlagsMutuallyExclusive("at", "follow")
	jsonFlag(cmd, &p.json)
	return cmd
}

// otherPlace returns the place that the second argument names, or that the
// database came from.
func otherPlace(ctx context.Context, db *stardust.DB, args []string) (place, error) {
	if len(args) < 2 {
		origin, err := bucketdb.Origin(ctx, db)
		if err != nil {
			return place{}, err
		}
		if origin == "" {
			return place{}, usagef("%s does not say where it came from; name the other place, such as s3://bucket/path", quote(args[0]))
		}
		return findPlace(origin)
	}
	p, err := findPlace(args[1])
	if err == nil {
		err = p.other(args[0])
	}
	return p, err
}

// pushing is a push command.
type pushing struct {
	env     *env
	at      int64 // zero means the latest
	follow  bool
	every   time.Duration
	metrics string
	json    bool
}

func (p *pushing) run(ctx context.Context, file string, db *stardust.DB, to place) error {
	if to.file != "" {
		return p.toFile(ctx, file, db, to)
	}
	return to.inStore(ctx, p.env, true, func(store objectstore.Store) error {
		if p.follow {
			return p.following(ctx, db, store, to)
		}
		return p.env.carry("push", "Pushed", to, p.json, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
			return bucketdb.Push(ctx, db, store, &bucketdb.PushOptions{At: p.at, Progress: progress, Now: p.env.now, Problem: p.env.problem})
		})
	})
}

// toFile makes a missing file a clone.
func (p *pushing) toFile(ctx context.Context, file string, db *stardust.DB, to place) error {
	if p.follow {
		return usagef("--follow pushes to a bucket; %s is a file", quote(to.text))
	}
	if _, err := os.Stat(to.file); isMissing(err) {
		return p.env.carry("push", "Pushed", to, p.json, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
			origin, err := place{file, file}.lasting()
			if err != nil {
				return new(bucketdb.Report), err
			}
			return bucketdb.CloneFile(ctx, db, to.file, &bucketdb.PullOptions{At: p.at, URL: origin, Progress: progress})
		})
	}
	return to.inFile(ctx, p.env, true, func(other *stardust.DB) error {
		return p.env.carry("push", "Pushed", to, p.json, func(progress func(bucketdb.Progress)) (*bucketdb.Report, error) {
			return bucketdb.Copy(ctx, db, other, &bucketdb.PullOptions{At: p.at, Progress: progress})
		})
	})
}
