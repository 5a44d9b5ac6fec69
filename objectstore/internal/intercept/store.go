package intercept

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// Store runs hooks around every call to an inner store. It has the methods of
// every optional interface; those that the inner store lacks answer
// ErrUnsupported. Give callers [View] of it.
type Store struct {
	inner objectstore.Store
	hooks Hooks
}

// New returns a Store around inner.
func New(inner objectstore.Store, hooks Hooks) *Store { return &Store{inner, hooks} }

// Inner returns the store that calls go to.
func (s *Store) Inner() objectstore.Store { return s.inner }

// String returns the inner store's name.
func (s *Store) String() string { return s.inner.String() }

// Get implements objectstore.Store.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	call := Call{Op: objectstore.OpGet, Path: path}
	if options != nil && options.Head {
		call.Op = objectstore.OpHead
	}
	end, err := s.hooks.begin(ctx, call)
	if err != nil {
		return nil, err
	}
	var result *objectstore.GetResult
	err = s.hooks.around(ctx, call, func(ctx context.Context) error {
		result, err = s.inner.Get(ctx, path, options)
		return err
	})
	if err != nil {
		if result != nil && result.Body != nil {
			_ = result.Body.Close()
		}
		end(err)
		return nil, err
	}
	if result.Body == nil {
		end(nil)
		return result, nil
	}
	if s.hooks.Receive != nil {
		s.hooks.Receive(ctx, call, result)
	}
	if s.hooks.Begin != nil {
		result.Body = endAtClose(result.Body, end)
	}
	return result, nil
}

// Put implements objectstore.Store.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	var result *objectstore.PutResult
	call := Call{Op: objectstore.OpPut, Path: path, Size: body.Size()}
	body = s.hooks.send(ctx, call, body)
	err := s.hooks.do(ctx, call, func(ctx context.Context) (err error) {
		result, err = s.inner.Put(ctx, path, body, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Delete implements objectstore.Store.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	return s.hooks.do(ctx, Call{Op: objectstore.OpDelete, Path: path}, func(ctx context.Context) error {
		return s.inner.Delete(ctx, path)
	})
}

// List implements objectstore.Store.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	call := Call{Op: objectstore.OpList}
	if options != nil {
		call.Path = objectstore.Path(options.Prefix)
	}
	return Seq(ctx, s, call, func(ctx context.Context) iter.Seq2[objectstore.ObjectMeta, error] {
		return s.inner.List(ctx, options)
	})
}

// ListWithDelimiter implements objectstore.Store.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	var result *objectstore.ListResult
	call := Call{Op: objectstore.OpListWithDelimiter}
	if options != nil {
		call.Path = objectstore.Path(options.Prefix)
	}
	err := s.hooks.do(ctx, call, func(ctx context.Context) (err error) {
		result, err = s.inner.ListWithDelimiter(ctx, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Copy implements objectstore.Store.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.hooks.do(ctx, Call{Op: objectstore.OpCopy, Path: from, To: to}, func(ctx context.Context) error {
		return s.inner.Copy(ctx, from, to, options)
	})
}

// Rename implements objectstore.Store.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.hooks.do(ctx, Call{Op: objectstore.OpRename, Path: from, To: to}, func(ctx context.Context) error {
		return s.inner.Rename(ctx, from, to, options)
	})
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	inner, ok := s.inner.(objectstore.TagReader)
	if !ok {
		return nil, s.unsupported(objectstore.OpTags, path)
	}
	var tags map[string]string
	err := s.hooks.do(ctx, Call{Op: objectstore.OpTags, Path: path}, func(ctx context.Context) (err error) {
		tags, err = inner.Tags(ctx, path)
		return err
	})
	return tags, err
}

// DeleteAll implements objectstore.BulkDeleter. The hooks see one call.
func (s *Store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		stopped := false
		err := s.hooks.do(ctx, Call{Op: objectstore.OpDeleteAll}, func(ctx context.Context) error {
			var failed error
			for path, err := range objectstore.DeleteAll(ctx, s.inner, paths) {
				if err != nil {
					failed = err
				}
				if !yield(path, err) {
					stopped = true
					break
				}
			}
			if failed != nil {
				return &yielded{failed}
			}
			return nil
		})
		if err != nil && !stopped && !wasYielded(err) {
			yield("", err)
		}
	}
}

func (s *Store) unsupported(op string, path objectstore.Path) error {
	return &objectstore.Error{Op: op, Store: s.String(), Path: string(path), Err: objectstore.ErrUnsupported}
}
