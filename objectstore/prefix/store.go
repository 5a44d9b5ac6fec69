package prefix

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// New returns the objects of inner whose paths begin with prefix and "/", under
// the rest of their paths. An empty prefix returns inner itself. The store has
// the optional interfaces that inner has; the paths in its errors are its own.
//
// No path leads out of the prefix: one with a segment "." or ".." is refused with
// ErrInvalidPath, because the inner store may resolve it.
func New(inner objectstore.Store, prefix objectstore.Path) objectstore.Store {
	if prefix == "" {
		return inner
	}
	return intercept.View(&store{inner: intercept.New(inner, intercept.Hooks{Begin: refuseDots}), prefix: string(prefix) + "/"}, inner)
}

// refuseDots keeps a path that leads out of the prefix from the inner store.
func refuseDots(_ context.Context, call intercept.Call) (end func(error), err error) {
	switch call.Op {
	case objectstore.OpList, objectstore.OpListWithDelimiter, objectstore.OpListMultiparts:
		return func(error) {}, nil // "a/.." is a prefix like any other
	}
	if err := errors.Join(objectstore.CheckDots(call.Path), objectstore.CheckDots(call.To)); err != nil {
		return nil, &objectstore.Error{Op: call.Op, Path: string(call.Path), Err: err}
	}
	return func(error) {}, nil
}

type store struct {
	inner  *intercept.Store
	prefix string // with a "/" at its end
}

// String returns the inner store's name with the prefix.
func (s *store) String() string {
	name, query, found := strings.Cut(s.inner.String(), "?")
	name = strings.TrimSuffix(name, "/") + "/" + strings.TrimSuffix(s.prefix, "/")
	if found {
		name += "?" + query
	}
	return name
}

// in returns the inner store's path. An invalid path gives an invalid one,
// which the inner store refuses, except that the empty path would become one
// that names things.
func (s *store) in(path objectstore.Path) objectstore.Path {
	if path == "" {
		return ""
	}
	return objectstore.Path(s.prefix) + path
}

// out is the reverse of in.
func (s *store) out(path objectstore.Path) objectstore.Path {
	return objectstore.Path(strings.TrimPrefix(string(path), s.prefix))
}

// fail gives an error of the inner store the paths and the name of this one.
func (s *store) fail(err error) error {
	//nolint:errorlint // only the outermost is of this call
	if e, ok := err.(*objectstore.Error); ok {
		return &objectstore.Error{Op: e.Op, Store: s.String(), Path: string(s.out(objectstore.Path(e.Path))), Err: e.Err}
	}
	return err
}

// Get implements objectstore.Store.
func (s *store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := s.inner.Get(ctx, s.in(path), options)
	if err != nil {
		return nil, s.fail(err)
	}
	result.Meta.Path = path
	return result, nil
}

// Put implements objectstore.Store.
func (s *store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	result, err := s.inner.Put(ctx, s.in(path), body, options)
	return result, s.fail(err)
}

// Delete implements objectstore.Store.
func (s *store) Delete(ctx context.Context, path objectstore.Path) error {
	return s.fail(s.inner.Delete(ctx, s.in(path)))
}

// DeleteAll implements objectstore.BulkDeleter.
func (s *store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		var refused []objectstore.Path
		mapped := func(yield func(objectstore.Path) bool) {
			for path := range paths {
				if objectstore.CheckDots(path) != nil {
					refused = append(refused, path)
				} else if !yield(s.in(path)) {
					return
				}
			}
		}
		yieldRefused := func() bool {
			for _, path := range refused {
				err := &objectstore.Error{Op: objectstore.OpDelete, Store: s.String(), Path: string(path), Err: objectstore.CheckDots(path)}
				if !yield(path, err) {
					return false
				}
			}
			refused = refused[:0]
			return true
		}
		for path, err := range s.inner.DeleteAll(ctx, mapped) {
			if !yieldRefused() || !yield(s.out(path), s.fail(err)) {
				return
			}
		}
		yieldRefused()
	}
}

// Tags implements objectstore.TagReader.
func (s *store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	tags, err := s.inner.Tags(ctx, s.in(path))
	return tags, s.fail(err)
}

func (s *store) listOptions(options *objectstore.ListOptions) *objectstore.ListOptions {
	var inner objectstore.ListOptions
	if options != nil {
		inner = *options
	}
	inner.Prefix = s.prefix + inner.Prefix
	if inner.Offset != "" {
		inner.Offset = s.prefix + inner.Offset
	}
	return &inner
}

// List implements objectstore.Store.
func (s *store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		if options != nil && objectstore.OnlyDots(options.Prefix) {
			return // there are none
		}
		for meta, err := range s.inner.List(ctx, s.listOptions(options)) {
			meta.Path = s.out(meta.Path)
			if !yield(meta, s.fail(err)) {
				return
			}
		}
	}
}

// ListWithDelimiter implements objectstore.Store.
func (s *store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options != nil && objectstore.OnlyDots(options.Prefix) {
		return &objectstore.ListResult{}, nil
	}
	result, err := s.inner.ListWithDelimiter(ctx, s.listOptions(options))
	if err != nil {
		return nil, s.fail(err)
	}
	for i := range result.Objects {
		result.Objects[i].Path = s.out(result.Objects[i].Path)
	}
	for i, common := range result.CommonPrefixes {
		result.CommonPrefixes[i] = strings.TrimPrefix(common, s.prefix)
	}
	return result, nil
}

// Copy implements objectstore.Store.
func (s *store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.fail(s.inner.Copy(ctx, s.in(from), s.in(to), options))
}

// Rename implements objectstore.Store.
func (s *store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.fail(s.inner.Rename(ctx, s.in(from), s.in(to), options))
}
