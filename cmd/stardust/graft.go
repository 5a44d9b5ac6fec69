package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
)

// graft lays an old part of the tree over the present one: it creates what is
// missing, many nodes a commit, and points changed files to their old payloads.
type graft struct {
	s      *session
	parent int64  // where the graft's top lies
	name   string // empty when the top is the root

	group *errgroup.Group // updates of files
	batch []stardust.NewNode
	path  []*graftDirectory // the directories that the walk stands in

	created   int64
	changed   atomic.Int64
	unchanged int64
	problems  []error
}

// graftDirectory is a directory of the present tree: one that exists, or one
// that the batch makes. Nil stands for one that cannot be made.
type graftDirectory struct {
	entity   int64
	position int // one-based, in the batch; zero when it exists
}

func newGraft(s *session, parent int64, name string) *graft {
	return &graft{s: s, parent: parent, name: name}
}

// run lays the old tree of an entity over the present one.
func (g *graft) run(ctx context.Context, old stardust.Tree, entity int64) error {
	g.group = new(errgroup.Group)
	g.group.SetLimit(parallelCommits)
	err := g.walk(old, entity)
	if err == nil {
		err = g.flush()
	}
	if failed := g.group.Wait(); err == nil {
		err = failed
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func (g *graft) walk(old stardust.Tree, entity int64) error {
	for entry, err := range old.Walk(entity) {
		if err != nil {
			return err
		}
		depth := 0
		if entry.Path != "" {
			depth = 1 + strings.Count(entry.Path, "/")
		} else {
			entry.Record.Name = g.name
		}
		g.path = g.path[:depth]
		if err := g.node(entry); err != nil {
			return err
		}
		if len(g.batch) == stardust.MaxNodes {
			if err := g.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// node decides what becomes of one node of the old tree.
func (g *graft) node(entry stardust.Entry) error {
	r := entry.Record
	if entry.Path == "" && g.name == "" { // the present root, which is always there
		g.path = append(g.path, &graftDirectory{})
		return nil
	}
	parent := &graftDirectory{entity: g.parent}
	if len(g.path) > 0 {
		parent = g.path[len(g.path)-1]
	}
	if parent == nil { // its directory is a problem already
		g.path = append(g.path, nil)
		return nil
	}
	if parent.position > 0 {
		g.add(r, stardust.NewNode{Name: r.Name, Under: parent.position})
		return nil
	}
	now, err := g.s.tree.Lookup(parent.entity, r.Name)
	switch {
	case isMissing(err):
		g.add(r, stardust.NewNode{Name: r.Name, Parent: parent.entity})
	case err != nil:
		return err
	case now.Kind != r.Kind:
		g.problems = append(g.problems, fmt.Errorf("%s is a %s now and was a %s", quote(join(g.name, entry.Path)), now.Kind, r.Kind))
		g.path = append(g.path, nil)
	case isDirectory(r):
		g.path = append(g.path, &graftDirectory{entity: now.Entity})
	case now.Digest == r.Digest:
		g.unchanged++
	default:
		g.group.Go(func() error {
			_, err := g.s.tree.Update(now.Entity, r.Digest, 0)
			if err == nil {
				g.changed.Add(1)
			}
			return err
		})
	}
	return nil
}

// add puts a node into the batch.
func (g *graft) add(r stardust.Record, node stardust.NewNode) {
	if !isDirectory(r) {
		node.Digest = &r.Digest
	}
	g.batch = append(g.batch, node)
	if isDirectory(r) {
		g.path = append(g.path, &graftDirectory{position: len(g.batch)})
	}
}

// flush creates the batch's nodes in one commit.
func (g *graft) flush() error {
	if len(g.batch) == 0 {
		return nil
	}
	records, err := g.s.tree.Create(g.batch...)
	if err != nil {
		return err
	}
	for _, d := range g.path {
		if d != nil && d.position > 0 {
			d.entity, d.position = records[d.position-1].Entity, 0
		}
	}
	g.created += int64(len(g.batch))
	g.batch = g.batch[:0]
	return nil
}
