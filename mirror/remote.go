package mirror

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// list lists the remote, and goes on where it was after a transient error.
func (m *Mirror) list(ctx context.Context, options objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for retries := 0; ; {
			more, err := m.listOnce(ctx, &options, &retries, yield)
			if !more || err == nil {
				return
			}
			if err := m.retry.wait(ctx, &retries, err); err != nil {
				yield(objectstore.ObjectMeta{}, err)
				return
			}
		}
	}
}

// listOnce makes one list call, and notes in the options and retries how far it
// got. It returns false when the consumer stops.
func (m *Mirror) listOnce(ctx context.Context, options *objectstore.ListOptions, retries *int, yield func(objectstore.ObjectMeta, error) bool) (more bool, err error) {
	w := watch(ctx, m.options.StallTimeout)
	defer w.stop()
	for object, err := range m.remote.List(w.ctx, options) {
		if err != nil {
			return true, w.error(err)
		}
		w.pause()
		*retries = 0
		options.Offset = string(object.Path)
		if !yield(object, nil) {
			return false, nil
		}
		w.progress()
	}
	return true, nil
}

// head asks the remote for an object's metadata, and retries transient errors.
func (m *Mirror) head(ctx context.Context, path objectstore.Path) (objectstore.ObjectMeta, error) {
	for retries := 0; ; {
		w := watch(ctx, m.options.StallTimeout)
		meta, err := objectstore.Head(w.ctx, m.remote, path)
		err = w.error(err)
		w.stop()
		if err == nil {
			return meta, nil
		}
		if err := m.retry.wait(ctx, &retries, err); err != nil {
			return objectstore.ObjectMeta{}, err
		}
	}
}
