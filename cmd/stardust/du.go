package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newDuCommand(e *env) *cobra.Command {
	var at revision
	var size sizes
	var asJSON, summary bool
	cmd := &cobra.Command{
		Use:   "du FILE [PATH]",
		Short: "Show how much space directories take, before and after deduplication and compression",
		Long: `Show, for each directory in PATH (the root by default) and for all of it, the bytes
of its files (logical), of the distinct chunks that they are made of (unique), and
what these take in the database, compressed or not (stored).

Chunks that several directories share count in each of them and once in the total,
so the bytes of the parts may add up to more than the total.`,
		Example: `  stardust du photos.stardust
  stardust du photos.stardust 2025 -s --json`,
		Args:    arguments(1, 2),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return e.read(ctx, args[0], &at, func(s *session) error {
				u := usage{summary: summary}
				if err := u.measure(ctx, s, cleanPath(argument(args, 1))); err != nil {
					return err
				}
				return u.print(e, &size, asJSON)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	cmd.Flags().BoolVarP(&summary, "summary", "s", false, "show the total only")
	jsonFlag(cmd, &asJSON)
	size.addFlags(cmd)
	return cmd
}

// usage is the space that a directory takes, and each of those in it.
type usage struct {
	summary bool
	parts   []*space
	total   *space
}

// space is what one directory takes.
type space struct {
	Path    string `json:"path"`
	Files   int64  `json:"files"`
	Logical int64  `json:"logical"`
	Unique  int64  `json:"unique"`
	Stored  int64  `json:"stored"`

	// payloads and chunks are those that were counted.
	payloads map[stardust.Digest]struct{}
	chunks   map[stardust.Digest]struct{}
}

func newSpace(path string) *space {
	return &space{
		Path: absolute(path), payloads: make(map[stardust.Digest]struct{}),
		chunks: make(map[stardust.Digest]struct{}),
	}
}

func (u *usage) measure(ctx context.Context, s *session, path string) error {
	top, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	u.total = newSpace(path)
	var part *space // the directory of the top that the walk is in
	prefix := ""
	for entry, err := range s.tree.Walk(top.Entity) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if isDirectory(entry.Record) && entry.Record.Parent == top.Entity && entry.Path != "" && !u.summary {
			part, prefix = newSpace(join(path, entry.Path)), entry.Path+"/"
			u.parts = append(u.parts, part)
			continue
		}
		if isDirectory(entry.Record) {
			continue
		}
		into := []*space{u.total}
		if part != nil && len(entry.Path) > len(prefix) && entry.Path[:len(prefix)] == prefix {
			into = append(into, part)
		}
		for _, space := range into {
			if err := space.add(s, &entry.Record); err != nil {
				return about(absolute(join(path, entry.Path)), err)
			}
		}
	}
	return nil
}

// add counts a file.
func (s *space) add(from *session, r *stardust.Record) error {
	s.Files++
	s.Logical += r.Size
	if _, counted := s.payloads[r.Digest]; counted {
		return nil
	}
	s.payloads[r.Digest] = struct{}{}
	for chunk, err := range from.tree.Chunks(r.Digest) {
		if err != nil {
			return err
		}
		s.addChunk(chunk)
	}
	return nil
}

func (s *space) addChunk(c stardust.Chunk) {
	if _, counted := s.chunks[c.Digest]; !counted {
		s.chunks[c.Digest] = struct{}{}
		s.Unique += c.Size
		s.Stored += c.Stored
	}
}

func (u *usage) print(e *env, size *sizes, asJSON bool) error {
	all := append(u.parts, u.total)
	if asJSON {
		for _, s := range all {
			if err := e.printJSON(s); err != nil {
				return err
			}
		}
		return nil
	}
	e.printf("%12s %12s %12s %9s  %s\n", "LOGICAL", "UNIQUE", "STORED", "FILES", "PATH")
	for _, s := range all {
		e.println(fmt.Sprintf("%12s %12s %12s %9d  %s",
			size.format(e, s.Logical), size.format(e, s.Unique), size.format(e, s.Stored), s.Files, e.name(s.Path)))
	}
	return nil
}
