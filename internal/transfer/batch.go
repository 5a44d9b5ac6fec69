package transfer

import "context"

// What one commit of an import writes at most: items, and bytes of content that
// become durable with it.
const (
	batchItems = 1024
	batchBytes = 256 << 20
)

// batch commits what the walk and the workers bring, many at a time. What has
// come when the caller gives up is committed, too, so that the next import has
// less to do.
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
			if err := im.commit(ctx, items); err != nil {
				return err
			}
			items, size = items[:0], 0
		}
		if !ok {
			return caller.Err()
		}
	}
}

// commit writes a batch and reports what became of it.
func (im *importer) commit(ctx context.Context, items []*Item) error {
	if len(items) == 0 {
		return nil
	}
	if err := im.to.Commit(ctx, items); err != nil {
		return err
	}
	for _, item := range items {
		switch {
		case item.Err != nil:
			im.failed(item.path, item.Err)
			if item.Made == nil {
				im.done(Failed)
			}
		case item.Made != nil:
			im.update(func(r *Report) { r.Directories++ })
		default:
			im.done(item.Outcome)
		}
	}
	return nil
}
