package stardust

import (
	"context"
	"io"
	"io/fs"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/transfer"
)

// ImportOptions are the options of [Objects.Import]. A nil pointer means the zero
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
// TransferReport.Problems, and the import goes on; so are symbolic links and
// special files, which are skipped and not followed, what an interrupted export
// left behind, and the database itself, under whatever name it lies there. A file
// that changes while it is read is read again, up to three times; one that never
// stands still is stored as it was read last, and counts as failed, too.
//
// The error is for what ends an import: StatusCanceled when ctx ends, StatusIO
// with CodeNoSpace for a full disk, StatusConflict when writes are held,
// StatusOutOfMemory when the memory budget has no room for a worker's upload,
// StatusInvalidArgument when the target is not a directory and StatusNotFound
// when it does not exist, StatusClosed. The report is valid then too, and what
// was committed stays.
func (v Objects) Import(ctx context.Context, from fs.FS, into int64, options *ImportOptions) (*TransferReport, error) {
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

func (v Objects) checkTarget(into int64) error {
	if err := v.writable(); err != nil {
		return err
	}
	if into == 0 {
		return nil
	}
	r, err := v.Record(into)
	if err == nil && r.Kind != KindDirectory {
		err = invalid("entity %d: is the file %s, not a directory", into, shorten(r.Name))
	}
	return err
}

// importTarget is what an import fills.
type importTarget struct {
	db  *DB
	own ownFiles
}

func (t importTarget) CheckName(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return nil
}

func (t importTarget) Owns(info fs.FileInfo) bool { return t.own.has(info) }

func (t importTarget) Store(ctx context.Context, from io.Reader) (transfer.Content, error) {
	u, err := t.db.payloads.NewUpload()
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
	var entities map[*transfer.Directory]int64
	_, err := t.db.commit(ctx, &write{
		chunks: true,
		plan: func(p *planner) error {
			entities = make(map[*transfer.Directory]int64)
			return p.importItems(items, entities)
		},
	})
	for _, item := range items {
		if d := draftOf(item); d != nil {
			settle(d, err)
		}
	}
	if err != nil {
		return err
	}
	for made, entity := range entities {
		made.Entity = entity
	}
	return nil
}

// importItems publishes the batch's payloads, then plans its nodes. A node that
// can't be made has its own error, and the others go on. What directories turn
// out to be is in entities, and theirs only once all is committed.
func (p *planner) importItems(items []*transfer.Item, entities map[*transfer.Directory]int64) error {
	for _, item := range items {
		if d := draftOf(item); d != nil {
			if err := d.Publish(p.tx); err != nil {
				return err
			}
		}
	}
	plan := importPlan{
		planner: p, entities: entities,
		there: make(map[*transfer.Directory]error), taken: make(map[importSlot]bool, len(items)),
	}
	for _, item := range items {
		item.Err = plan.item(item)
		if item.Err == nil {
			continue
		}
		if !refusal(item.Err) {
			return item.Err
		}
		if item.Made != nil {
			item.Made.Failed = true
		}
	}
	return nil
}

// importPlan is the plan of one batch.
type importPlan struct {
	*planner
	entities map[*transfer.Directory]int64
	there    map[*transfer.Directory]error // why a directory can take nothing, or nil
	taken    map[importSlot]bool
}

// importSlot is a name in a directory.
type importSlot struct {
	directory *transfer.Directory
	name      string
}

func (p *importPlan) item(item *transfer.Item) error {
	parent, fresh := p.entities[item.Parent]
	if !fresh {
		parent = item.Parent.Entity
	}
	if err := p.parent(item.Parent, fresh); err != nil {
		return err
	}
	slot := importSlot{item.Parent, item.Name}
	if p.taken[slot] {
		return conflict(CodeNameTaken, "its file system lists the name %s twice", shorten(item.Name))
	}
	p.taken[slot] = true
	return p.node(item, parent, fresh)
}

// parent checks that a directory can take what the import brings. One that an
// earlier commit made, or found, may have been removed since.
func (p *importPlan) parent(d *transfer.Directory, fresh bool) error {
	if d.Failed {
		return invalid("its directory was not imported")
	}
	if fresh {
		return nil
	}
	err, known := p.there[d]
	if !known {
		err = p.directory("directory", d.Entity)
		p.there[d] = err
	}
	return err
}

// node plans one node. Nothing else can be in a directory that this very commit
// makes, so its names need no look-up.
func (p *importPlan) node(item *transfer.Item, parent int64, fresh bool) error {
	var old catalog.Node
	found := false
	if !fresh {
		var err error
		if old, found, err = p.tx.Child(parent, item.Name); err != nil {
			return err
		}
	}
	d := draftOf(item)
	switch {
	case found && old.File != (d != nil):
		return nameTaken(parent, item.Name, &old)
	case found && item.Made != nil:
		item.Outcome = transfer.Unchanged
		item.Made.Entity = old.Entity
		return nil
	case found && old.Digest == d.Digest():
		item.Outcome = transfer.Unchanged
		return nil
	case found:
		item.Outcome = transfer.Updated
		p.facts = append(p.facts, catalog.Digest(old.Entity, catalog.AttributeDigest, d.Digest()))
		return nil
	}
	item.Outcome = transfer.Created
	entity := p.newEntity()
	p.facts = append(p.facts,
		catalog.Int64(entity, catalog.AttributeParent, parent),
		catalog.String(entity, catalog.AttributeName, item.Name))
	if d != nil {
		p.facts = append(p.facts, catalog.Digest(entity, catalog.AttributeDigest, d.Digest()))
	} else {
		p.entities[item.Made] = entity
	}
	return nil
}
