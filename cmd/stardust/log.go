package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// logChanges is how many changes of a transaction log prints without --all.
const logChanges = 8

// history is what the flags of log say.
type history struct {
	from int64
	last int
	all  bool
	json bool
	sizes
	tags map[int64][]string // names of revisions
}

func newLogCommand(e *env) *cobra.Command {
	var at revision
	var h history
	cmd := &cobra.Command{
		Use:   "log FILE [PATH]",
		Short: "Show the history of the database, or of one file or directory",
		Long: `Show the transactions of the database, the oldest first, and what each did:
+ created, - removed, > moved, ~ changed content, = patched.

With PATH, show the versions of that file or directory. To see those of one that
was removed, say with --at when it was there.`,
		Example: `  stardust log notes.stardust -n 5
  stardust log notes.stardust todo.txt`,
		Args:    arguments(1, 2),
		GroupID: groupPast,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if h.from < 0 || h.last < 0 {
				return usagef("--from and --last cannot be negative")
			}
			return e.read(ctx, args[0], &at, func(s *session) error {
				if len(args) == 2 {
					return h.versions(ctx, e, s, cleanPath(args[1]))
				}
				return h.transactions(ctx, e, s, &at)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	cmd.Flags().Int64Var(&h.from, "from", 0, "begin with this revision")
	cmd.Flags().IntVarP(&h.last, "last", "n", 0, "show only this many of the last (0: all)")
	cmd.Flags().BoolVar(&h.all, "all", false, "show all changes of a transaction, not only the first")
	jsonFlag(cmd, &h.json)
	h.addFlags(cmd)
	return cmd
}

// transactions prints the history of the whole database.
func (h *history) transactions(ctx context.Context, e *env, s *session, at *revision) error {
	tags, err := s.db.Tags()
	if err != nil {
		return err
	}
	h.tags = make(map[int64][]string, len(tags))
	for _, tag := range tags {
		h.tags[tag.Revision] = append(h.tags[tag.Revision], tag.Name)
	}
	var kept []stardust.Transaction // the last ones, when only those are wanted
	for t, err := range s.db.Transactions(h.from) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if at.set && t.ID > at.number {
			break
		}
		if h.last == 0 {
			if err := h.transaction(e, s, &t); err != nil {
				return err
			}
			continue
		}
		if len(kept) == h.last {
			kept = append(kept[:0], kept[1:]...)
		}
		kept = append(kept, t)
	}
	for i := range kept {
		if err := h.transaction(e, s, &kept[i]); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) transaction(e *env, s *session, t *stardust.Transaction) error {
	changes := changesOf(t)
	show := changes
	if !h.all && !h.json {
		show = changes[:min(len(changes), logChanges)]
	}
	for i := range show {
		if err := show[i].locate(s, t.ID); err != nil {
			return err
		}
	}
	if h.json {
		return e.printJSON(struct {
			Revision int64     `json:"revision"`
			Time     time.Time `json:"time"`
			Message  string    `json:"message,omitempty"`
			Tags     []string  `json:"tags,omitempty"`
			Changes  []change  `json:"changes"`
			Gone     bool      `json:"forgotten,omitempty"`
		}{t.ID, t.Time, t.Message(), h.tags[t.ID], changes, t.Forgotten})
	}
	e.printf("revision %-8d %s  %s\n", t.ID, timestamp(t.Time), h.headline(t, changes))
	for line := range strings.Lines(t.Message()) {
		e.println("    " + e.name(strings.TrimSuffix(line, "\n")))
	}
	for _, c := range show {
		suffix := ""
		if c.Kind == stardust.KindDirectory {
			suffix = "/"
		}
		e.println("    " + mark(c.Action) + " " + e.name(c.Path) + suffix)
	}
	if more := len(changes) - len(show); more > 0 {
		e.printf("    and %d more; --all shows them\n", more)
	}
	return nil
}

// headline says in one line what a transaction did, and which tags name it.
func (h *history) headline(t *stardust.Transaction, changes []change) string {
	parts := []string{}
	if text := summarize(changes); text != "" {
		parts = append(parts, text)
	}
	for _, name := range t.TagNames() {
		parts = append(parts, "tag "+name)
	}
	text := strings.Join(parts, ", ")
	if t.Forgotten {
		text += "  (forgotten)"
	}
	if names := h.tags[t.ID]; len(names) > 0 {
		text += "  [" + strings.Join(names, ", ") + "]"
	}
	return text
}

// summarize counts changes by what they did.
func summarize(changes []change) string {
	counts := make(map[string]int)
	for _, c := range changes {
		counts[c.Action]++
	}
	var parts []string
	for _, action := range []string{actionCreated, actionChanged, actionMoved, actionRemoved, actionPatched} {
		if counts[action] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[action], action))
		}
	}
	return strings.Join(parts, ", ")
}

// version is one version of a node as --json prints it.
type version struct {
	node
	Time    time.Time `json:"time,omitzero"`
	Until   int64     `json:"until,omitempty"`
	Removed bool      `json:"removed,omitempty"`
}

// versions prints the history of one node.
func (h *history) versions(ctx context.Context, e *env, s *session, path string) error {
	r, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	if r.Entity == 0 {
		return about("/", fmt.Errorf("the root directory has no versions; leave the path out to see the whole history"))
	}
	// All of them, also those after the revision at which the path was found.
	versions, err := s.db.Tree().WithContext(ctx).History(r.Entity)
	if err != nil {
		return err
	}
	if h.last > 0 {
		versions = versions[max(0, len(versions)-h.last):]
	}
	for i := range versions {
		if versions[i].Revision < h.from {
			continue
		}
		if err := h.version(e, s, &versions[i]); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) version(e *env, s *session, v *stardust.Version) error {
	view, err := s.db.KeptFrom(v.Revision)
	if err != nil {
		return err
	}
	path, err := pathOf(view.Tree(), v.Entity)
	if err != nil {
		return err
	}
	when, err := s.timeOf(v.Revision)
	if err != nil {
		return err
	}
	if h.json {
		return e.printJSON(version{newNode(cleanPath(path), v.Record), when, v.Until, v.Removed})
	}
	size, digest := "-", "-"
	if v.Kind == stardust.KindFile {
		size, digest = h.format(e, v.Size), v.Digest.String()[:12]
	}
	end := ""
	if v.Removed {
		end = fmt.Sprintf("  (removed by revision %d)", v.Until)
	}
	e.printf("revision %-8d %s  %12s  %-12s  %s%s\n", v.Revision, timestamp(when), size, digest, e.name(path), end)
	return nil
}
