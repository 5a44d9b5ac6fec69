package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// listing is how ls and find print nodes.
type listing struct {
	long bool
	json bool
	null bool
	// slash marks directories, as ls does.
	slash bool
	sizes
}

func (l *listing) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&l.long, "long", "l", false, "print kind, size, revision and digest, too")
	cmd.Flags().BoolVarP(&l.null, "null", "0", false, "end names with a NUL byte, not a line feed")
	jsonFlag(cmd, &l.json)
	l.sizes.addFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "long")
	cmd.MarkFlagsMutuallyExclusive("json", "null")
}

func newLsCommand(e *env) *cobra.Command {
	var at revision
	l := listing{slash: true}
	cmd := &cobra.Command{
		Use:   "ls FILE [PATH]...",
		Short: "List directories",
		Long: `List what is in directories of the database (the root by default), in the order
of the names' bytes; directories end in a slash. A file lists itself.

On a terminal, names that could confuse are quoted; in a pipe names are as they
are.`,
		Example: `  stardust ls notes.stardust
  stardust ls notes.stardust essays -l
  stardust ls notes.stardust essays --json`,
		Args:    arguments(1, -1),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths := args[1:]
			if len(paths) == 0 {
				paths = []string{""}
			}
			return e.read(cmd.Context(), args[0], &at, func(s *session) error {
				return l.list(e, s, paths)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	l.addFlags(cmd)
	return cmd
}

// list prints the files among several paths, and then what is in the directories.
func (l *listing) list(e *env, s *session, paths []string) error {
	var inside []stardust.Entry
	for _, path := range paths {
		path = cleanPath(path)
		r, err := s.tree.Resolve(path)
		if err != nil {
			return err
		}
		if isDirectory(r) {
			inside = append(inside, stardust.Entry{Path: path, Record: r})
		} else if err := l.print(e, path, path, r); err != nil {
			return err
		}
	}
	for i, directory := range inside {
		if len(paths) > 1 && !l.json && !l.null {
			if i > 0 || len(paths) > len(inside) {
				e.println("")
			}
			e.println(e.name(absolute(directory.Path)) + ":")
		}
		if err := l.directory(e, s, directory); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) directory(e *env, s *session, d stardust.Entry) error {
	for child, err := range s.tree.Children(d.Record.Entity) {
		if err == nil {
			err = l.print(e, join(d.Path, child.Name), child.Name, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// print prints one node under a name for people, or by its path as JSON.
func (l *listing) print(e *env, path, name string, r stardust.Record) error {
	if l.json {
		return e.printJSON(newNode(path, r))
	}
	if l.null {
		e.printf("%s\x00", name)
		return nil
	}
	name = e.name(name)
	if l.slash && isDirectory(r) {
		name += "/"
	}
	if !l.long {
		e.println(name)
		return nil
	}
	size, digest := "-", "-"
	if !isDirectory(r) {
		size, digest = l.format(e, r.Size), r.Digest.String()[:12]
	}
	e.println(fmt.Sprintf("%-9s %12s %9d  %-12s  %s", r.Kind, size, r.Revision, digest, name))
	return nil
}
