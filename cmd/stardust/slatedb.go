package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

func newSlateDBCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "slatedb",
		Short: "Look into a SlateDB database in an object store",
		Long: `Look into a SlateDB database: what its manifests and compactions say, and what its
SSTs take up. URL is the database's root in its store, such as
s3://bucket/path/to/db or file:///var/db.`,
		Args:    arguments(0, -1),
		GroupID: groupRemote,
		RunE:    runGroup,
	}
	cmd.AddCommand(
		newSlateDBManifestCommand(e), newSlateDBCompactionsCommand(e), newSlateDBSSTsCommand(e),
		newSlateDBCheckpointsCommand(e), newSlateDBDiffCommand(e), newSlateDBDuCommand(e))
	return cmd
}

// slateFlags are those of the commands that read one manifest.
type slateFlags struct {
	id   uint64
	root string
	json bool
}

func (f *slateFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.id, "id", 0, "read the object with this number instead of the latest")
	f.addRootFlag(cmd)
}

func (f *slateFlags) addRootFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.root, "root", "", "the database's path within the store at URL; needed when it borrows SSTs from another database there")
	jsonFlag(cmd, &f.json)
}

// withDatabase opens the store at a URL and calls fn with it and the database's
// root in it.
func (f *slateFlags) withDatabase(ctx context.Context, e *env, url string, fn func(objectstore.Store, objectstore.Path) error) error {
	root, err := parseRoot(f.root)
	if err != nil {
		return err
	}
	return e.withStore(ctx, url, func(store objectstore.Store) error {
		return aboutStore(url, fn(store, root))
	})
}

// parseRoot returns what --root says: / is the store's own root.
func parseRoot(text string) (objectstore.Path, error) {
	trimmed := strings.Trim(text, "/")
	if trimmed == "" {
		return "", nil
	}
	root, err := objectstore.ParsePath(trimmed)
	if err != nil {
		return "", usagef("--root: %w", err)
	}
	return root, nil
}

// withManifest calls fn with the manifest that the flags choose.
func (f *slateFlags) withManifest(ctx context.Context, e *env, url string, fn func(objectstore.Path, *slatedb.Manifest) error) error {
	return f.withDatabase(ctx, e, url, func(store objectstore.Store, root objectstore.Path) error {
		m, err := readManifest(ctx, store, root, f.id)
		if err != nil {
			return err
		}
		return fn(root, m)
	})
}

// readManifest reads the manifest of a number, the latest for 0.
func readManifest(ctx context.Context, store objectstore.Store, root objectstore.Path, id uint64) (*slatedb.Manifest, error) {
	if id == 0 {
		return slatedb.LatestManifest(ctx, store, root)
	}
	return slatedb.ReadManifest(ctx, store, root, id)
}

func newSlateDBManifestCommand(e *env) *cobra.Command {
	var f slateFlags
	cmd := &cobra.Command{
		Use:   "manifest URL",
		Short: "Show what a manifest says",
		Example: `  stardust slatedb manifest s3://bucket/db
  stardust slatedb manifest s3://bucket/db --id 42 --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withManifest(cmd.Context(), e, args[0], func(_ objectstore.Path, m *slatedb.Manifest) error {
				if f.json {
					return e.printJSON(m.View())
				}
				printManifest(e, m.View())
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}

func printManifest(e *env, v *slatedb.ManifestView) {
	e.printf("manifest %d, format version %d\n", v.ID, v.FormatVersion)
	e.printf("%s\n", plural(int64(len(v.SSTs)), "SST", "SSTs"))
	for _, id := range v.SSTs {
		e.printf("  %s\n", id)
	}
	for _, s := range v.Segments {
		e.printf("segment %s, %s\n", segmentName(e, s), plural(int64(len(s.L0)+len(s.SortedRuns)), "L0 SST or run", "L0 SSTs and runs"))
	}
	for _, x := range v.ExternalDBs {
		e.printf("external database %s, %s\n", e.name(x.Path), plural(int64(len(x.SSTIDs)), "SST", "SSTs"))
	}
	if len(v.Checkpoints) > 0 {
		e.printf("%s\n", plural(int64(len(v.Checkpoints)), "checkpoint", "checkpoints"))
		printCheckpoints(e, v.Checkpoints)
	}
}

func newSlateDBCheckpointsCommand(e *env) *cobra.Command {
	var f slateFlags
	cmd := &cobra.Command{
		Use:     "checkpoints URL",
		Short:   "List the checkpoints in a manifest",
		Example: `  stardust slatedb checkpoints s3://bucket/db`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withManifest(cmd.Context(), e, args[0], func(_ objectstore.Path, m *slatedb.Manifest) error {
				view := m.View()
				if !f.json {
					printCheckpoints(e, view.Checkpoints)
					return nil
				}
				for _, c := range view.Checkpoints {
					if err := e.printJSON(c); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}

func printCheckpoints(e *env, checkpoints []slatedb.CheckpointView) {
	for _, c := range checkpoints {
		expires, name := "never expires", ""
		if c.ExpireTimeS != nil {
			expires = "expires " + timeText(*c.ExpireTimeS)
		}
		if c.Name != nil {
			name = "  " + e.name(*c.Name)
		}
		e.printf("  %s  manifest %d  %s%s\n", c.ID, c.ManifestID, expires, name)
	}
}

func newSlateDBCompactionsCommand(e *env) *cobra.Command {
	var f slateFlags
	cmd := &cobra.Command{
		Use:     "compactions URL",
		Short:   "Show what a compactions object says",
		Example: `  stardust slatedb compactions s3://bucket/db --json`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withDatabase(cmd.Context(), e, args[0], func(store objectstore.Store, root objectstore.Path) error {
				cs, err := readCompactions(cmd.Context(), store, root, f.id)
				switch {
				case err != nil:
					return err
				case cs == nil:
					return errors.New("no compactions objects; the database never had a compactor")
				case f.json:
					return e.printJSON(cs.View())
				}
				printCompactions(e, cs.View())
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}

func readCompactions(ctx context.Context, store objectstore.Store, root objectstore.Path, id uint64) (*slatedb.Compactions, error) {
	if id == 0 {
		return slatedb.LatestCompactions(ctx, store, root)
	}
	return slatedb.ReadCompactions(ctx, store, root, id)
}

func printCompactions(e *env, v *slatedb.CompactionsView) {
	e.printf("compactions %d, format version %d, compactor epoch %d\n", v.ID, v.FormatVersion, v.CompactorEpoch)
	for _, c := range v.Compactions {
		e.printf("  %s  %-10s %s, %s\n", c.ID, c.Status,
			plural(int64(len(c.SSTs)+len(c.L0ViewIDs)+len(c.SortedRuns)), "source", "sources"),
			plural(int64(len(c.OutputSSTs)), "output SST", "output SSTs"))
	}
}

func newSlateDBSSTsCommand(e *env) *cobra.Command {
	var f slateFlags
	cmd := &cobra.Command{
		Use:     "ssts URL",
		Short:   "List the SSTs that a manifest references, with their paths",
		Example: `  stardust slatedb ssts s3://bucket/db`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withManifest(cmd.Context(), e, args[0], func(root objectstore.Path, m *slatedb.Manifest) error {
				resolver := m.Resolver(root)
				for _, id := range m.SSTs() {
					path := resolver.SSTPath(id).String()
					if !f.json {
						e.println(e.name(path))
					} else if err := e.printJSON(sstLine{id, path}); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.addFlags(cmd)
	return cmd
}

// sstLine is an SST, for JSON.
type sstLine struct {
	ID   ulid.ULID `json:"id"`
	Path string    `json:"path"`
}

// segmentName shows a segment's prefix: as text, or in hexadecimal.
func segmentName(e *env, s slatedb.SegmentView) string {
	if s.Prefix != nil {
		return e.name(*s.Prefix)
	}
	return "0x" + s.PrefixHex
}

// timeText shows a time given in seconds since 1970.
func timeText(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04:05Z")
}
