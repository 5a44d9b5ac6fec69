package transfer

import (
	"context"

	"github.com/stardustdb/stardust/internal/transfer/fileindex"
)

// What one commit of an import writes at most: items, and bytes of content that
// become durable with it.
const (
	batchItems = 1024
	batchBytes = 256 << 20
)

// batch commits what the walk and the workers bring, many at a time. When the
// caller gives up, what has arrived is committed all the same, so that the next
// import has less to do.
func (im *importer) batch(ctx, caller context.Context) error {
	var items []*Item
	var size int64
	for {
		item, ok := <-im.stored
		if ok {
			items = append(items, item)
			if item.Content != nil {
				size += item.Content.Size()
			}
		}
		if !ok && caller.Err() != nil {
			ctx = context.WithoutCancel(caller)
		}
		if !ok || len(items) >= batchItems || size >= batchBytes {
			if err := im.commitLast(ctx, items, !ok && caller.Err() == nil); err != nil {
				return err
			}
			items, size = items[:0], 0
		}
		if !ok {
			return caller.Err()
		}
	}
}

// commitLast commits a batch, and the last one of an import that removes little
// together with what it removes.
func (im *importer) commitLast(ctx context.Context, items []*Item, last bool) error {
	if !last || !im.o.Delete || len(im.late) > 0 || len(im.gone) > batchItems {
		return im.commit(ctx, items, nil)
	}
	r := remover{importer: im, limit: batchItems}
	if err := r.trees(ctx); err != nil {
		return err
	}
	if len(r.batch) > batchItems {
		return im.commit(ctx, items, nil)
	}
	im.gone = nil
	return im.commit(ctx, items, &r)
}

// commit writes a batch and reports what became of it. With a remover it removes,
// too, what that has.
func (im *importer) commit(ctx context.Context, items []*Item, r *remover) error {
	var nodes []Gone
	if r != nil {
		nodes = r.nodes()
	}
	if len(items)+len(nodes) == 0 {
		return nil
	}
	var gone func(string) bool
	if im.o.Delete {
		gone = im.isGone
	}
	if err := im.to.Commit(ctx, items, gone, nodes); err != nil {
		return err
	}
	entries := make(map[string][]fileindex.Entry)
	for _, item := range items {
		if item.inTheWay = item.Blocked; item.Blocked != 0 && !item.again {
			item.again = true
			im.blocked = append(im.blocked, item)
			continue
		}
		im.committed(item)
		if item.Err == nil {
			im.record(entries, item)
			im.remember(item)
		}
	}
	if r != nil {
		r.report(nodes)
	}
	for path, of := range entries { // none without a writer
		im.index.writer.Add(path, of)
	}
	return nil
}

// committed reports what became of an item.
func (im *importer) committed(item *Item) {
	if item.aside && item.Err == nil {
		return
	}
	change := Change{Path: item.path, Directory: item.Made != nil}
	switch {
	case item.Err != nil:
		im.fail(item.path, item.Err)
		if item.Made == nil {
			im.done(Failed)
		}
		return
	case item.Made != nil:
		im.update(func(r *Report) { r.Directories++ })
	default:
		im.done(item.Outcome)
	}
	switch item.Outcome {
	case Created:
		change.Action = ActionCreated
	case Updated:
		change.Action = ActionChanged
	case Moved:
		change.Action, change.From = ActionMoved, item.MovedFrom
		im.left[item.MovedFrom] = true
	default:
		return
	}
	im.changed(change)
}
