package retry

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store.
func (s *store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		var rest objectstore.ListOptions
		if options != nil {
			rest = *options
		}
		repeat(ctx, s.attempts(objectstore.OpList, prefixOf(options)), func() iter.Seq2[objectstore.ObjectMeta, error] {
			return s.Store.List(ctx, &rest)
		}, func(meta objectstore.ObjectMeta) bool {
			rest.Offset = string(meta.Path)
			return yield(meta, nil)
		}, yield)
	}
}

// ListParts implements objectstore.MultipartStore.
func (s *store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		last := 0
		repeat(ctx, s.attempts(objectstore.OpListParts, path), func() iter.Seq2[objectstore.Part, error] {
			return s.Store.ListParts(ctx, path, id)
		}, func(part objectstore.Part) bool {
			if part.Number <= last {
				return true // yielded before
			}
			last = part.Number
			return yield(part, nil)
		}, yield)
	}
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		seen := map[string]bool{}
		repeat(ctx, s.attempts(objectstore.OpListMultiparts, objectstore.Path(prefix)), func() iter.Seq2[objectstore.MultipartUpload, error] {
			return s.Store.ListMultiparts(ctx, prefix)
		}, func(upload objectstore.MultipartUpload) bool {
			if seen[upload.ID] {
				return true
			}
			seen[upload.ID] = true
			return yield(upload, nil)
		}, yield)
	}
}

// repeat iterates over what open returns, again after a transient error, until
// item returns false or the sequence ends.
func repeat[T any](ctx context.Context, a *attempts, open func() iter.Seq2[T, error], item func(T) bool, yield func(T, error) bool) {
	for {
		var failed error
		for one, err := range open() {
			if err != nil {
				failed = err
				break
			}
			a.progress()
			if !item(one) {
				return
			}
		}
		if failed == nil {
			return
		}
		if err := a.again(ctx, failed); err != nil {
			var zero T
			yield(zero, err)
			return
		}
	}
}
