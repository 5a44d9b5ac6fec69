package retry

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// New returns a store that repeats what failed for a transient reason. It has
// the optional interfaces that inner has.
//
// A body made with objectstore.Stream is sent only once. When a Get's body
// breaks off, the rest is read by its range if the object still has the same
// ETag. A list goes on after the last object that it yielded. A multipart
// upload may be begun twice, which leaves one unfinished.
func New(inner objectstore.Store, options Options) objectstore.Store {
	options.normalize()
	return intercept.View(&store{intercept.New(inner, intercept.Hooks{}), options}, inner)
}

// store calls the embedded one, which passes on to the inner store and knows
// its optional interfaces.
type store struct {
	*intercept.Store
	options Options
}

// Get implements objectstore.Store.
func (s *store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	op := objectstore.OpGet
	if options != nil && options.Head {
		op = objectstore.OpHead
	}
	a := s.attempts(op, path)
	var result *objectstore.GetResult
	err := a.do(ctx, func() (err error) {
		result, err = s.Store.Get(ctx, path, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	if result.Body != nil {
		s.resume(ctx, a, path, options, result)
	}
	return result, nil
}

// Put implements objectstore.Store.
func (s *store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if !body.Replayable() {
		return s.Store.Put(ctx, path, body, options)
	}
	a := s.attempts(objectstore.OpPut, path)
	var result *objectstore.PutResult
	err := a.do(ctx, func() (err error) {
		result, err = s.Store.Put(ctx, path, body, options)
		return err
	})
	if err == nil {
		return result, nil
	}
	// The conflicting write may be our own.
	if err = a.ambiguous(err, objectstore.ErrAlreadyExists, objectstore.ErrPrecondition); errors.Is(err, ErrAmbiguous) && s.options.UniqueBodies {
		if meta, same := s.holds(ctx, path, body); same {
			return &objectstore.PutResult{ETag: meta.ETag, Version: meta.Version}, nil
		}
	}
	return nil, err
}

// holds reports whether the object has the bytes of body.
func (s *store) holds(ctx context.Context, path objectstore.Path, body objectstore.Body) (objectstore.ObjectMeta, bool) {
	meta, err := objectstore.Head(ctx, s, path)
	if err != nil || meta.Size != body.Size() {
		return meta, false
	}
	result, err := s.Get(ctx, path, &objectstore.GetOptions{IfMatch: meta.ETag})
	if err != nil {
		return meta, false
	}
	defer result.Body.Close()
	return meta, sameBytes(result.Body, body.Open())
}

// Delete implements objectstore.Store.
func (s *store) Delete(ctx context.Context, path objectstore.Path) error {
	a := s.attempts(objectstore.OpDelete, path)
	err := a.do(ctx, func() error { return s.Store.Delete(ctx, path) })
	if a.repeated() && errors.Is(err, objectstore.ErrNotFound) {
		return nil // an earlier attempt, or another's, has deleted it
	}
	return err
}

// ListWithDelimiter implements objectstore.Store.
func (s *store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (result *objectstore.ListResult, err error) {
	a := s.attempts(objectstore.OpListWithDelimiter, prefixOf(options))
	err = a.do(ctx, func() (err error) {
		result, err = s.Store.ListWithDelimiter(ctx, options)
		return err
	})
	return result, err
}

// Copy implements objectstore.Store.
func (s *store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	a := s.attempts(objectstore.OpCopy, from)
	err := a.do(ctx, func() error { return s.Store.Copy(ctx, from, to, options) })
	return a.ambiguous(err, objectstore.ErrAlreadyExists)
}

// Rename implements objectstore.Store.
func (s *store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	a := s.attempts(objectstore.OpRename, from)
	err := a.do(ctx, func() error { return s.Store.Rename(ctx, from, to, options) })
	return a.ambiguous(err, objectstore.ErrAlreadyExists, objectstore.ErrNotFound)
}

// Tags implements objectstore.TagReader.
func (s *store) Tags(ctx context.Context, path objectstore.Path) (tags map[string]string, err error) {
	err = s.attempts(objectstore.OpTags, path).do(ctx, func() (err error) {
		tags, err = s.Store.Tags(ctx, path)
		return err
	})
	return tags, err
}

func prefixOf(options *objectstore.ListOptions) objectstore.Path {
	if options == nil {
		return ""
	}
	return objectstore.Path(options.Prefix)
}
