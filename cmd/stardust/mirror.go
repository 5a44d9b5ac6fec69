package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

func newMirrorCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mirror",
		Short: "Keep a complete local copy of the objects that matter in a bucket",
		Long: `Keep a complete local copy of the objects that matter in a bucket: reads are local,
writes are durable in the bucket before they return. serve puts the mirror behind an
S3 endpoint; the other commands work on a mirror's directory while nothing else has
it open.`,
		Args:    arguments(0, -1),
		GroupID: groupRemote,
		RunE:    runGroup,
	}
	cmd.AddCommand(
		newMirrorServeCommand(e), newMirrorWarmCommand(e), newMirrorStatusCommand(e),
		newMirrorVerifyCommand(e), newMirrorEvictCommand(e), newMirrorScanCommand(e))
	return cmd
}

// mirrorFlags say which mirror a command works on.
type mirrorFlags struct {
	upstream  string
	dir       string
	policy    policyFlags
	downloads int
	scan      time.Duration
}

func (f *mirrorFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.upstream, "upstream", "", "URL of the store to mirror, such as s3://bucket")
	flags.StringVar(&f.dir, "dir", "", "directory of the local copies; made when it is missing")
	flags.IntVar(&f.downloads, "downloads", mirror.DefaultDownloadConcurrency, "download with this many requests at a time")
	for _, name := range []string{"upstream", "dir"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
}

// open opens the mirror and calls fn with it.
func (f *mirrorFlags) open(ctx context.Context, e *env, policy mirror.Policy, fn func(*mirror.Mirror) error) error {
	return e.withStore(ctx, f.upstream, func(store objectstore.Store) (err error) {
		m, err := mirror.NewBuilder(f.dir, store, policy).
			WithDownloadConcurrency(f.downloads).
			WithoutRemoteScan().
			WithVerification(true).
			WithMaxRetries(commandRetries).
			WithLogger(e.logger()).
			Build(ctx)
		if err != nil {
			return about(f.dir, err)
		}
		defer func() {
			if closed := m.Close(); err == nil {
				err = about(f.dir, closed)
			}
		}()
		return fn(m)
	})
}

// commandRetries is how often a command repeats a call that failed for a
// passing reason; a person waits for the outcome.
const commandRetries = 8

// policyFlags say what a mirror keeps.
type policyFlags struct {
	name   string
	root   string
	prefix string
	rules  []string
	limit  byteSize
}

func (p *policyFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.name, "policy", "all", "what to keep: slatedb, all, rules or lru")
	flags.StringVar(&p.root, "root", "", "slatedb: the database's path in the store, to warm it at the start")
	flags.StringVar(&p.prefix, "prefix", "", "all: keep only paths that begin with this")
	flags.StringArrayVar(&p.rules, "keep", nil, "rules: keep paths that match this glob, such as '**/*.sst'; may be repeated")
	flags.Var(&p.limit, "limit", "lru: keep up to so many bytes, such as 10GiB")
}

// check refuses flags of another policy than the chosen one.
func (p *policyFlags) check(cmd *cobra.Command) error {
	of := map[string]string{"root": "slatedb", "prefix": "all", "keep": "rules", "limit": "lru"}
	for flag, policy := range of {
		if cmd.Flags().Changed(flag) && p.name != policy {
			return usagef("--%s belongs to --policy %s, not %s", flag, policy, p.name)
		}
	}
	switch p.name {
	case "slatedb", "all":
	case "rules":
		if len(p.rules) == 0 {
			return usagef("--policy rules needs at least one --keep")
		}
	case "lru":
		if p.limit <= 0 {
			return usagef("--policy lru needs --limit")
		}
	default:
		return usagef("--policy %q: it can be slatedb, all, rules or lru", p.name)
	}
	return nil
}

// slateRoot returns the root of the SlateDB, and whether it was given.
func (p *policyFlags) slateRoot() (objectstore.Path, bool, error) {
	if p.root == "" {
		return "", false, nil
	}
	if p.root == "/" {
		return "", true, nil
	}
	root, err := objectstore.ParsePath(p.root)
	if err != nil {
		return "", false, usagef("--root: %w", err)
	}
	return root, true, nil
}

// build returns the policy that keeps what the flags say.
func (p *policyFlags) build() (mirror.Policy, error) {
	switch p.name {
	case "slatedb":
		b := slatedb.NewPolicyBuilder().WithPathTags().WithoutCompactionsPoll()
		root, known, err := p.slateRoot()
		if err != nil {
			return nil, err
		}
		if known {
			b.WithRoot(root)
		}
		return b.Build(), nil
	case "rules":
		rules, err := p.buildRules()
		return rules, err
	case "lru":
		return mirror.NewLRU(int64(p.limit))
	}
	return &mirror.KeepAll{Prefix: p.prefix, WithoutWarming: true}, nil
}

func newMirrorWarmCommand(e *env) *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use:   "warm",
		Short: "Download what the mirror should have and has not",
		Example: `  stardust mirror warm --upstream s3://bucket --dir /var/lib/mirror --policy all --prefix db/
  stardust mirror warm --upstream s3://bucket --dir /var/lib/mirror --policy slatedb --root db`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	root, known, err := f.policy.slateRoot()
	if err != nil {
		return err
	}
	if f.policy.name == "lru" {
		return usagef("--policy lru keeps what is read, so there is nothing to warm")
	}
	if f.policy.name == "slatedb" && !known {
		return usagef("--policy slatedb needs --root to know which database to warm")
	}
	return f.open(ctx, e, policy, func(m *mirror.Mirror) error {
		watch := e.watchDownloads(ctx, m)
		var err error
		switch f.policy.name {
		case "slatedb":
			_, err = slatedb.LatestManifest(ctx, m, root)
		case "rules":
			err = f.warmRules(ctx, m)
		default:
			err = mirror.Warm(ctx, m.Handle(), f.policy.prefix)
		}
		stats := watch.done()
		if err != nil {
			return stopped(ctx, about(f.upstream, err), "what was downloaded stays; run the same command again to go on")
		}
		e.printf("%s local (%s), %s downloaded (%s).\n", objects(stats.Objects), humanSize(stats.Bytes),
			objects(stats.Counters.Downloads), humanSize(stats.DownloadedBytes))
		return nil
	})
}

func objects(n int64) string { return plural(n, "object", "objects") }

func newMirrorStatusCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what a mirror's directory holds",
		Long: `Show what a mirror's directory holds. A mirror that is being served has its own
status page, /status, with downloads and queues.`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.open(cmd.Context(), e, keepNothingNew(), func(m *mirror.Mirror) error {
				stats := m.Handle().Stats()
				if asJSON {
					return e.printJSON(mirrorStatus{stats.Objects, stats.Bytes, stats.Startup.Invalid, stats.Startup.Temporary})
				}
				e.printf("%s, %s\n", objects(stats.Objects), humanSize(stats.Bytes))
				return nil
			})
		},
	}
	f.addFlags(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// mirrorStatus is what status prints as JSON.
type mirrorStatus struct {
	Objects   int64 `json:"objects"`
	Bytes     int64 `json:"bytes"`
	Invalid   int   `json:"invalid_removed"`   // broken copies, cleaned up just now
	Temporary int   `json:"temporary_removed"` // of downloads that were cut off
}

// keepNothingNew is the policy of commands that only look after local copies.
func keepNothingNew() mirror.Policy { return &mirror.KeepAll{WithoutWarming: true} }

func newMirrorVerifyCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var repair bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check every local copy against its checksums",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.open(cmd.Context(), e, keepNothingNew(), func(m *mirror.Mirror) error {
				return verifyMirror(cmd.Context(), e, m, repair)
			})
		},
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&repair, "repair", false, "download damaged copies again")
	return cmd
}

func verifyMirror(ctx context.Context, e *env, m *mirror.Mirror, repair bool) error {
	var good, bad, repaired int64
	for path, err := range m.Verify(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			good++
			continue
		}
		bad++
		e.notice("damaged: %s", explain(about(path.String(), err)))
		if repair {
			m.Handle().Evict(path)
			if err := m.Handle().Fetch(path).Wait(ctx); err != nil {
				e.notice("not repaired: %s", explain(about(path.String(), err)))
				continue
			}
			repaired++
		}
	}
	e.printf("%s whole, %d damaged, %d repaired.\n", objects(good), bad, repaired)
	if bad > repaired {
		return fmt.Errorf("%s damaged; --repair downloads them again", objects(bad-repaired))
	}
	return nil
}

func newMirrorEvictCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var all bool
	cmd := &cobra.Command{
		Use:   "evict [PATH]...",
		Short: "Remove local copies; the upstream is not touched",
		Args:  arguments(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("give paths, or --all")
			}
			return f.open(cmd.Context(), e, keepNothingNew(), func(m *mirror.Mirror) error {
				var paths []objectstore.Path
				for meta := range m.Handle().Entries() {
					if all {
						paths = append(paths, meta.Path)
					}
				}
				for _, arg := range args {
					path, err := objectstore.KeyPath(arg)
					if err != nil {
						return &usageError{err}
					}
					if !m.Handle().Contains(path) {
						return fmt.Errorf("%s: there is no local copy", arg)
					}
					paths = append(paths, path)
				}
				removed, err := m.Evict(cmd.Context(), paths...)
				e.printf("%s removed.\n", objects(int64(removed)))
				return err
			})
		},
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "remove every local copy")
	return cmd
}

func newMirrorScanCommand(e *env) *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Remove local copies of objects that are gone upstream",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.open(cmd.Context(), e, keepNothingNew(), func(m *mirror.Mirror) error {
				result, err := m.Scan(cmd.Context())
				if err != nil {
					return err
				}
				e.printf("%s looked at, %d removed.\n", objects(int64(result.Local)), result.Removed)
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}
