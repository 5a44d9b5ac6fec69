package mirror

import (
	"context"
	"errors"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// maxBulk is how many paths a bulk delete takes turns on at a time.
const maxBulk = 1000

// Delete implements objectstore.Store. It waits for the path's turn, so that
// it doesn't overtake an earlier write, and then deletes the remote object and
// the local copy in parallel. A failure of one does not affect the other; the
// remote's error is returned before a [Local].
func (m *Mirror) Delete(ctx context.Context, path objectstore.Path) error {
	leave, err := m.enter(objectstore.OpDelete, path)
	if err != nil {
		return err
	}
	defer leave()
	release, err := m.takeTurn(ctx, turnDelete, path)
	if err != nil {
		return m.fail(objectstore.OpDelete, path, err)
	}
	defer release()
	removed := make(chan error, 1)
	go func() {
		_, err := m.local.Remove(path)
		removed <- err
	}()
	err = m.remote.Delete(ctx, path)
	localErr := <-removed
	switch {
	case err != nil:
		return err
	case localErr != nil:
		return m.fail(objectstore.OpDelete, path, localErr)
	}
	return nil
}

// DeleteAll implements objectstore.BulkDeleter, in bulk where the remote does.
func (m *Mirror) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		var batch []objectstore.Path
		seen := map[objectstore.Path]bool{}
		flush := func() bool {
			defer func() { batch = nil; clear(seen) }()
			return m.deleteBatch(ctx, batch, yield)
		}
		for path := range paths {
			if seen[path] || len(batch) == maxBulk {
				if !flush() {
					return
				}
			}
			batch = append(batch, path)
			seen[path] = true
		}
		if len(batch) > 0 {
			flush()
		}
	}
}

// deleteBatch deletes different paths. It returns false when the consumer
// stops.
func (m *Mirror) deleteBatch(ctx context.Context, paths []objectstore.Path, yield func(objectstore.Path, error) bool) bool {
	errs := m.deleteTogether(ctx, paths)
	for _, path := range paths {
		if !yield(path, errs[path]) {
			return false
		}
	}
	return true
}

// deleteTogether deletes different paths and returns their errors. It holds the
// turns of all, so it does not call the consumer meanwhile.
func (m *Mirror) deleteTogether(ctx context.Context, paths []objectstore.Path) map[objectstore.Path]error {
	errs := map[objectstore.Path]error{}
	failAll := func(err error) map[objectstore.Path]error {
		for _, path := range paths {
			errs[path] = m.fail(objectstore.OpDelete, path, err)
		}
		return errs
	}
	leave, err := m.enter(objectstore.OpDelete, "")
	if err != nil {
		return failAll(objectstore.ErrClosed)
	}
	defer leave()
	release, err := m.takeTurn(ctx, turnDelete, paths...)
	if err != nil {
		return failAll(err)
	}
	defer release()
	left := map[objectstore.Path]bool{}
	for _, path := range paths {
		left[path] = true
		if _, err := m.local.Remove(path); err != nil {
			errs[path] = m.fail(objectstore.OpDelete, path, err)
		}
	}
	all := func(yield func(objectstore.Path) bool) {
		for _, path := range paths {
			if !yield(path) {
				return
			}
		}
	}
	for path, err := range objectstore.DeleteAll(ctx, m.remote, all) {
		delete(left, path)
		if err != nil {
			errs[path] = err
		}
	}
	for path := range left {
		errs[path] = m.fail(objectstore.OpDelete, path, errors.New("the remote did not say whether it deleted it"))
	}
	return errs
}
