package stardust

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"iter"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/transfer"
	"github.com/stardustdb/stardust/internal/tree"
)

// importTarget is what an import fills.
type importTarget struct {
	db   *DB
	into int64
	dry  bool // change nothing
	own  ownFiles

	// began is the last revision before the import, and made the number of its own
	// since. Only one goroutine commits.
	started     bool
	began, made int64
	// planned are the nodes that a dry run has made up.
	planned int64
}

var _ transfer.Target = (*importTarget)(nil)

func (t *importTarget) CheckName(name string) error {
	return asError(tree.CheckName(name))
}

func (t *importTarget) Owns(info fs.FileInfo) bool { return t.own.has(info) }

// State is first called before the import begins, and so notes where.
func (t *importTarget) State(revision int64) (s transfer.State, err error) {
	err = t.db.view(context.Background(), catalog.Live, true, func(v *catalog.View) error {
		last, err := v.LastRevision()
		if err != nil {
			return err
		}
		if !t.started {
			t.started, t.began = true, last
		}
		s = transfer.State{Identity: t.db.file.identity(), Last: last}
		if revision >= 0 {
			s.Last = revision
		}
		digest, found, err := v.RecordDigest(s.Last)
		if found {
			s.Record = hex.EncodeToString(digest[:])
		}
		if err != nil {
			return err
		}
		if revision >= 0 {
			touched, err := v.TouchedAfter(revision)
			s.Exact = !touched
			return err
		}
		all, err := v.TransactionsAfter(t.began)
		s.Exact = all == t.made
		return err
	})
	return s, err
}

// Children yields the nodes in a directory.
func (t *importTarget) Children(ctx context.Context, directory int64) iter.Seq2[transfer.Child, error] {
	return func(yield func(transfer.Child, error) bool) {
		for r, err := range t.db.Tree().WithContext(ctx).Children(directory) {
			if !yield(newChild(&r), err) {
				return
			}
		}
	}
}

func newChild(r *Record) transfer.Child {
	return transfer.Child{Name: r.Name, Entity: r.Entity, Revision: r.Revision, File: r.Kind == KindFile, Size: r.Size, Digest: r.Digest}
}

// Child returns a node of a directory.
func (t *importTarget) Child(ctx context.Context, directory int64, name string) (child transfer.Child, found bool, err error) {
	err = t.db.view(ctx, catalog.Live, false, func(v *catalog.View) error {
		var n catalog.Node
		if n, found, err = v.Child(directory, name); found {
			r := newRecord(&n)
			child = newChild(&r)
		}
		return err
	})
	return child, found, err
}

// Attributes returns what is kept of a node.
func (t *importTarget) Attributes(ctx context.Context, entity int64) (value []byte, err error) {
	err = t.db.view(ctx, catalog.Live, false, func(v *catalog.View) (err error) {
		value, err = v.Attribute(entity, attributes.NameFile)
		return err
	})
	return value, err
}

// Store stores a file's content. A dry run only looks at it.
func (t *importTarget) Store(ctx context.Context, from io.Reader) (transfer.Content, error) {
	if t.dry {
		return hashContent(from)
	}
	u, err := t.db.payloads.NewUpload(ctx)
	if err != nil {
		return nil, err
	}
	_, source, err := u.ReadFrom(ctx, from)
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if source != nil {
		err = &transfer.SourceError{Err: source}
	}
	if err != nil {
		u.Close()
		return nil, err
	}
	d, err := u.Detach(ctx)
	if err != nil {
		u.Close()
		return nil, err
	}
	return &storedContent{Draft: d}, nil
}

// Published returns content that is published already.
func (t *importTarget) Published(d Digest, size int64) transfer.Content { return &dryContent{d, size} }

// Commit writes a batch of items.
func (t *importTarget) Commit(ctx context.Context, items []*transfer.Item, gone func(string) bool, nodes []transfer.Gone) error {
	brought, removals := importNodes(items), newRemovals(nodes)
	var moves *commit.Moves
	if gone != nil {
		moves = &commit.Moves{Into: t.into, Gone: gone}
	}
	revision, err := t.write(ctx, commit.Write{Chunks: true, Plan: func(p *commit.Plan) error {
		for _, item := range items {
			if c, ok := item.Content.(*storedContent); ok && !c.settled {
				if err := c.Publish(p.Tx()); err != nil {
					return err
				}
			}
		}
		return p.Import(brought, moves, removals)
	}})
	for _, item := range items {
		if c, ok := item.Content.(*storedContent); ok && !c.settled {
			c.settled = true
			settle(c.Draft, err)
		}
	}
	if err != nil {
		return err
	}
	for i, item := range items {
		t.outcome(item, &brought[i], revision)
	}
	setRemoved(nodes, removals)
	return nil
}

// outcome sets what became of an item.
func (t *importTarget) outcome(item *transfer.Item, n *commit.Item, revision int64) {
	item.Err, item.Outcome, item.Blocked, item.MovedFrom = asError(n.Err), outcome(n.Outcome), n.Blocked, n.From
	item.Entity, item.Revision = n.Entity, n.Revision
	if n.Outcome != commit.Unchanged {
		item.Revision = revision
	}
	if item.Made != nil {
		item.Made.Entity, item.Made.Failed = n.Entity, item.Err != nil
		item.Made.Unreal = t.dry && n.Outcome == commit.Created
	}
}

// Remove removes nodes.
func (t *importTarget) Remove(ctx context.Context, nodes []transfer.Gone) error {
	removals := newRemovals(nodes)
	_, err := t.write(ctx, commit.Write{Plan: func(p *commit.Plan) error { return p.RemoveAll(removals) }})
	setRemoved(nodes, removals)
	return err
}

func newRemovals(nodes []transfer.Gone) []commit.Removal {
	removals := make([]commit.Removal, len(nodes))
	for i := range nodes {
		removals[i] = commit.Removal{Entity: nodes[i].Entity, Parent: nodes[i].Parent, Name: nodes[i].Name}
	}
	return removals
}

// setRemoved sets what became of nodes.
func setRemoved(nodes []transfer.Gone, removals []commit.Removal) {
	for i := range nodes {
		nodes[i].Removed, nodes[i].Err = removals[i].Removed, asError(removals[i].Err)
	}
}

// Say writes a message about the import.
func (t *importTarget) Say(ctx context.Context, message string) error {
	value, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = t.write(ctx, commit.Write{Plan: func(p *commit.Plan) error {
		p.Note(attributeMessage, value)
		return nil
	}})
	return err
}

// write commits, or, in a dry run, plans what it would commit.
func (t *importTarget) write(ctx context.Context, w commit.Write) (revision int64, err error) {
	if t.dry {
		err := t.db.view(ctx, catalog.Live, true, func(v *catalog.View) error {
			var err error
			t.planned, err = commit.Preview(v, t.planned, w.Plan)
			return err
		})
		return 0, err
	}
	revision, err = t.db.commit(ctx, w)
	if err == nil && revision != 0 {
		t.made++
	}
	return revision, err
}

// importNodes are the nodes to plan for items.
func importNodes(items []*transfer.Item) []commit.Item {
	nodes := make([]commit.Item, len(items))
	positions := make(map[*transfer.Directory]int) // one-based
	for i, item := range items {
		n := &nodes[i]
		n.Name, n.Under = item.Name, positions[item.Parent]
		n.Parent, n.Orphan, n.Attributes = item.Parent.Entity, item.Parent.Failed, item.Attributes
		n.Fresh, n.Replace, n.Speaks = item.Parent.Unreal, item.Replace, item.Speaks
		if c, ok := item.Content.(digested); ok {
			n.File, n.Digest = true, c.Digest()
		} else {
			positions[item.Made] = i + 1
		}
	}
	return nodes
}

// digested is content whose digest is known.
type digested interface{ Digest() Digest }

// storedContent is content of a file that nothing names yet.
type storedContent struct {
	*payload.Draft
	settled bool // it was published, or given up
}

// outcome is a commit's outcome as transfers know it.
func outcome(o commit.Outcome) transfer.Outcome {
	switch o {
	case commit.Created:
		return transfer.Created
	case commit.Updated:
		return transfer.Updated
	case commit.Moved:
		return transfer.Moved
	default:
		return transfer.Unchanged
	}
}
