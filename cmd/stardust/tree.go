package main

import (
	"iter"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// drawing is one picture of a tree.
type drawing struct {
	depth int
	json  bool
	sizes

	directories, fileCount, bytes int64
}

func newTreeCommand(e *env) *cobra.Command {
	var at revision
	var d drawing
	cmd := &cobra.Command{
		Use:   "tree FILE [PATH]",
		Short: "Draw a directory and everything in it",
		Example: `  stardust tree notes.stardust
  stardust tree notes.stardust essays --depth 2 --at 40`,
		Args:    arguments(1, 2),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.read(cmd.Context(), args[0], &at, func(s *session) error {
				return d.draw(e, s, cleanPath(argument(args, 1)))
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	cmd.Flags().IntVar(&d.depth, "depth", 0, "draw at most this many levels (0: all)")
	jsonFlag(cmd, &d.json)
	d.addFlags(cmd)
	return cmd
}

// branch is a directory of the picture that is not drawn to its end yet. It
// holds the child that comes next, so that the last one is known as such.
type branch struct {
	path   string
	indent string
	next   func() (stardust.Record, error, bool)
	stop   func()
	child  stardust.Record
	more   bool
}

func newBranch(s *session, path, indent string, entity int64) (*branch, error) {
	b := &branch{path: path, indent: indent}
	b.next, b.stop = iter.Pull2(s.tree.Children(entity))
	return b, b.step()
}

func (b *branch) step() (err error) {
	b.child, err, b.more = b.next()
	return err
}

// draw draws the tree beneath a path. It keeps one branch a level, and never
// recurses.
func (d *drawing) draw(e *env, s *session, path string) error {
	top, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	if !d.json {
		e.println(e.name(absolute(path)))
	}
	var stack []*branch
	defer func() {
		for _, b := range stack {
			b.stop()
		}
	}()
	if isDirectory(top) {
		b, err := newBranch(s, path, "", top.Entity)
		stack = append(stack, b)
		if err != nil {
			return err
		}
	}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		if !b.more {
			b.stop()
			stack = stack[:len(stack)-1]
			continue
		}
		child := b.child
		if err := b.step(); err != nil {
			return err
		}
		below, err := d.node(e, b, child)
		if err != nil {
			return err
		}
		if isDirectory(child) && (d.depth <= 0 || len(stack) < d.depth) {
			inner, err := newBranch(s, join(b.path, child.Name), below, child.Entity)
			stack = append(stack, inner)
			if err != nil {
				return err
			}
		}
	}
	if !d.json {
		e.printf("\n%s, %s, %s\n", directories(d.directories), files(d.fileCount), d.format(e, d.bytes))
	}
	return nil
}

// node draws one node and returns the indent of what is beneath it.
func (d *drawing) node(e *env, b *branch, r stardust.Record) (indent string, err error) {
	if isDirectory(r) {
		d.directories++
	} else {
		d.fileCount++
		d.bytes += r.Size
	}
	if d.json {
		return "", e.printJSON(newNode(join(b.path, r.Name), r))
	}
	mark, below := "├── ", "│   "
	if !b.more {
		mark, below = "└── ", "    "
	}
	name := e.name(r.Name)
	if isDirectory(r) {
		e.println(b.indent + mark + name + "/")
	} else {
		e.println(b.indent + mark + name + "  (" + d.format(e, r.Size) + ")")
	}
	return b.indent + below, nil
}
