package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
)

// batch commits what the walk and the workers bring, many at a time.
func (im *importer) batch(ctx context.Context) error {
	var items []*importItem
	var size int64
	for {
		item, ok := <-im.stored
		if ok {
			items = append(items, item)
			if item.draft != nil {
				size += item.draft.Size()
			}
		}
		if !ok || len(items) >= importBatch || size >= importBatchBytes {
			if err := im.commit(ctx, items); err != nil {
				return err
			}
			items, size = items[:0], 0
		}
		if !ok {
			return ctx.Err()
		}
	}
}

// commit writes a batch in one transaction and reports what became of it.
func (im *importer) commit(ctx context.Context, items []*importItem) error {
	if len(items) == 0 {
		return nil
	}
	var entities map[*importDirectory]int64
	_, err := im.objects.db.commit(ctx, &write{
		chunks: true,
		plan: func(p *planner) error {
			entities = make(map[*importDirectory]int64)
			return im.plan(p, items, entities)
		},
	})
	for _, item := range items {
		if item.draft != nil {
			settle(item.draft, err)
		}
	}
	if err != nil {
		return err
	}
	for _, item := range items {
		im.account(item, entities)
	}
	return nil
}

// plan publishes the batch's payloads, then plans its nodes. A node that can't
// be made has its own error, and the others go on.
func (im *importer) plan(p *planner, items []*importItem, entities map[*importDirectory]int64) error {
	for _, item := range items {
		if item.draft == nil {
			continue
		}
		if err := item.draft.Publish(p.tx); err != nil {
			return err
		}
	}
	there := make(map[*importDirectory]error)
	type slot struct {
		directory *importDirectory
		name      string
	}
	taken := make(map[slot]bool, len(items))
	for _, item := range items {
		parent, fresh := entities[item.parent]
		if !fresh {
			parent = item.parent.entity
		}
		err := p.importParent(item.parent, fresh, there)
		if key := (slot{item.parent, item.name}); err == nil && taken[key] {
			err = conflict(CodeNameTaken, "its file system lists the name %s twice", shorten(item.name))
		} else if err == nil {
			taken[key] = true
			err = p.importNode(item, parent, fresh, entities)
		}
		item.err = err
		if err != nil {
			if !refusal(err) {
				return err
			}
			if item.made != nil {
				item.made.failed = true
			}
		}
	}
	return nil
}

// importParent checks that a directory can take what the import brings. One that
// an earlier commit made, or found, may have been removed since.
func (p *planner) importParent(d *importDirectory, fresh bool, there map[*importDirectory]error) error {
	if d.failed {
		return invalid("its directory was not imported")
	}
	if fresh {
		return nil
	}
	err, known := there[d]
	if !known {
		err = p.directory("directory", d.entity)
		there[d] = err
	}
	return err
}

// importNode plans one node. Nothing else can be in a directory that this very
// commit makes, so its names need no look-up.
func (p *planner) importNode(item *importItem, parent int64, fresh bool, entities map[*importDirectory]int64) error {
	var old catalog.Node
	found := false
	if !fresh {
		var err error
		if old, found, err = p.tx.Child(parent, item.name); err != nil {
			return err
		}
	}
	switch {
	case found && old.File != (item.draft != nil):
		return nameTaken(parent, item.name, &old)
	case found && item.made != nil:
		item.result = resultUnchanged
		item.made.entity = old.Entity
		return nil
	case found && old.Digest == item.draft.Digest():
		item.result = resultUnchanged
		return nil
	case found:
		item.result = resultUpdated
		p.facts = append(p.facts, catalog.Digest(old.Entity, catalog.AttributeDigest, item.draft.Digest()))
		return nil
	}
	item.result = resultCreated
	entity := p.newEntity()
	p.facts = append(p.facts,
		catalog.Int64(entity, catalog.AttributeParent, parent),
		catalog.String(entity, catalog.AttributeName, item.name))
	if item.draft != nil {
		p.facts = append(p.facts, catalog.Digest(entity, catalog.AttributeDigest, item.draft.Digest()))
	} else {
		entities[item.made] = entity
	}
	return nil
}

// account adds a committed item to the report.
func (im *importer) account(item *importItem, entities map[*importDirectory]int64) {
	if entity, made := entities[item.made]; made && item.made != nil {
		item.made.entity = entity
	}
	if item.err != nil {
		im.problem(item.path, item.err, false)
	}
	im.update(func(r *TransferReport) {
		switch {
		case item.draft == nil && item.err == nil:
			r.Directories++
		case item.draft == nil:
		case item.err != nil:
			r.Files++
		default:
			r.Files++
			switch item.result {
			case resultCreated:
				r.Created++
			case resultUpdated:
				r.Updated++
			case resultUnchanged:
				r.Unchanged++
			}
		}
	})
}
