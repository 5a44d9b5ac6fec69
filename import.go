package stardust

import (
	"context"
	"io"
	"io/fs"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/transfer"
	"github.com/stardustdb/stardust/internal/tree"
)

// ImportOptions are the options of [Tree.Import]. A nil pointer means the zero
// value.
type ImportOptions struct {
	// Workers is how many files are handled at the same time, at most 256 and
	// one for every 16 MiB of the memory budget; zero means one for each
	// processor.
	Workers int
	// Progress, when not nil, is called after every step that changed it, one
	// call at a time.
	Progress func(Progress)
	// Problem, when not nil, is called for everything that is left out, one
	// call at a time.
	Problem func(Problem)
}

// Import copies a file system's files and directories into a directory of the
// tree. It reads files in parallel, and many share one commit. Run again it
// takes up where it stopped: content that is stored already is not stored twice,
// files that have it already keep their revision, and those that differ get the
// new content.
//
// What can't be read, or has a name that the tree can't hold, is reported in
// TransferReport.Problems, and the import goes on; so are special files, what an
// interrupted export left behind, and the database itself, under whatever name it
// lies there. Symbolic links are never followed: where the file system can read
// them (fs.ReadLinkFS) they are kept as docs/attributes.md says, otherwise skipped
// and reported. A file that changes while it is read is read again, up to three times; one that never
// stands still is stored as it was read last, and counts as failed, too.
//
// The error is for what ends an import: StatusCanceled when ctx ends, StatusIO
// with CodeNoSpace for a full disk, StatusConflict when writes are held,
// StatusOutOfMemory when the memory budget has no room for a worker's upload,
// StatusInvalidArgument when the target is not a directory and StatusNotFound
// when it does not exist, StatusClosed. The report is valid then too, and what
// was committed stays.
func (v Tree) Import(ctx context.Context, from fs.FS, into int64, options *ImportOptions) (*TransferReport, error) {
	const op = "objects.import"
	var o ImportOptions
	if options != nil {
		o = *options
	}
	if err := v.WithContext(ctx).checkTarget(into); err != nil {
		return new(TransferReport), withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	target := importTarget{db: v.db, own: v.db.file.ownFiles()}
	report, err := transfer.Import(inner, target, from, into, transferOptions(v.db.payloads.Uploads(), o.Workers, o.Progress, o.Problem))
	return newTransferReport(report), withOp(op, end(err))
}

func (v Tree) checkTarget(into int64) error {
	if err := v.writable(); err != nil {
		return err
	}
	if into == 0 {
		return nil
	}
	r, err := v.Get(into)
	if err == nil && r.Kind != KindDirectory {
		err = invalid("entity %d: is the file %s, not a directory", into, tree.Quote(r.Name))
	}
	return err
}

// importTarget is what an import fills.
type importTarget struct {
	db  *DB
	own ownFiles
}

func (t importTarget) CheckName(name string) error {
	return asError(tree.CheckName(name))
}

func (t importTarget) Owns(info fs.FileInfo) bool { return t.own.has(info) }

func (t importTarget) Store(ctx context.Context, from io.Reader) (transfer.Content, error) {
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
	return d, nil
}

// draftOf returns the draft of a file, or nil for a directory.
func draftOf(item *transfer.Item) *payload.Draft {
	d, _ := item.Content.(*payload.Draft)
	return d
}

func (t importTarget) Commit(ctx context.Context, items []*transfer.Item) error {
	nodes := importNodes(items)
	_, err := t.db.commit(ctx, commit.Write{Chunks: true, Plan: func(p *commit.Plan) error {
		for _, item := range items {
			if d := draftOf(item); d != nil {
				if err := d.Publish(p.Tx()); err != nil {
					return err
				}
			}
		}
		return p.Import(nodes)
	}})
	for _, item := range items {
		if d := draftOf(item); d != nil {
			settle(d, err)
		}
	}
	if err != nil {
		return err
	}
	for i, item := range items {
		item.Err, item.Outcome = asError(nodes[i].Err), outcome(nodes[i].Outcome)
		if item.Made != nil {
			item.Made.Entity, item.Made.Failed = nodes[i].Entity, item.Err != nil
		}
	}
	return nil
}

// importNodes are the nodes to plan for items.
func importNodes(items []*transfer.Item) []commit.Item {
	nodes := make([]commit.Item, len(items))
	positions := make(map[*transfer.Directory]int) // one-based
	for i, item := range items {
		n := &nodes[i]
		n.Name, n.Under = item.Name, positions[item.Parent]
		n.Parent, n.Orphan, n.Attributes = item.Parent.Entity, item.Parent.Failed, item.Attributes
		if d := draftOf(item); d != nil {
			n.File, n.Digest = true, d.Digest()
		} else {
			positions[item.Made] = i + 1
		}
	}
	return nodes
}

// outcome is a commit's outcome as transfers know it.
func outcome(o commit.Outcome) transfer.Outcome {
	switch o {
	case commit.Created:
		return transfer.Created
	case commit.Updated:
		return transfer.Updated
	default:
		return transfer.Unchanged
	}
}
