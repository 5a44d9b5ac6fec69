package intercept

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	var inner objectstore.Upload
	err := s.hooks.do(ctx, Call{Op: objectstore.OpCreateMultipart, Path: path}, func(ctx context.Context) (err error) {
		inner, err = s.inner.PutMultipart(ctx, path, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &upload{s, path, inner}, nil
}

type upload struct {
	store *Store
	path  objectstore.Path
	inner objectstore.Upload
}

func (u *upload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	call := Call{Op: objectstore.OpUploadPart, Path: u.path, Size: body.Size()}
	body = u.store.hooks.send(ctx, call, body)
	return u.store.hooks.do(ctx, call, func(ctx context.Context) error {
		return u.inner.PutPart(ctx, number, body)
	})
}

func (u *upload) Complete(ctx context.Context) (*objectstore.PutResult, error) {
	var result *objectstore.PutResult
	err := u.store.hooks.do(ctx, Call{Op: objectstore.OpCompleteMultipart, Path: u.path}, func(ctx context.Context) (err error) {
		result, err = u.inner.Complete(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (u *upload) Abort(ctx context.Context) error {
	return u.store.hooks.do(ctx, Call{Op: objectstore.OpAbortMultipart, Path: u.path}, u.inner.Abort)
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	inner, ok := s.inner.(objectstore.MultipartStore)
	if !ok {
		return "", s.unsupported(objectstore.OpCreateMultipart, path)
	}
	var id string
	err := s.hooks.do(ctx, Call{Op: objectstore.OpCreateMultipart, Path: path}, func(ctx context.Context) (err error) {
		id, err = inner.CreateMultipart(ctx, path, options)
		return err
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// UploadPart implements objectstore.MultipartStore.
func (s *Store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	inner, ok := s.inner.(objectstore.MultipartStore)
	if !ok {
		return objectstore.Part{}, s.unsupported(objectstore.OpUploadPart, path)
	}
	var part objectstore.Part
	call := Call{Op: objectstore.OpUploadPart, Path: path, Size: body.Size()}
	body = s.hooks.send(ctx, call, body)
	err := s.hooks.do(ctx, call, func(ctx context.Context) (err error) {
		part, err = inner.UploadPart(ctx, path, id, number, body)
		return err
	})
	if err != nil {
		return objectstore.Part{}, err
	}
	return part, nil
}

// CompleteMultipart implements objectstore.MultipartStore.
func (s *Store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	inner, ok := s.inner.(objectstore.MultipartStore)
	if !ok {
		return nil, s.unsupported(objectstore.OpCompleteMultipart, path)
	}
	var result *objectstore.PutResult
	err := s.hooks.do(ctx, Call{Op: objectstore.OpCompleteMultipart, Path: path}, func(ctx context.Context) (err error) {
		result, err = inner.CompleteMultipart(ctx, path, id, parts, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *Store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	inner, ok := s.inner.(objectstore.MultipartStore)
	if !ok {
		return s.unsupported(objectstore.OpAbortMultipart, path)
	}
	return s.hooks.do(ctx, Call{Op: objectstore.OpAbortMultipart, Path: path}, func(ctx context.Context) error {
		return inner.AbortMultipart(ctx, path, id)
	})
}

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return Seq(ctx, s, Call{Op: objectstore.OpListParts, Path: path}, func(ctx context.Context) iter.Seq2[objectstore.Part, error] {
		inner, ok := s.inner.(objectstore.MultipartStore)
		if !ok {
			return Fail[objectstore.Part](s.unsupported(objectstore.OpListParts, path))
		}
		return inner.ListParts(ctx, path, id)
	})
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	call := Call{Op: objectstore.OpListMultiparts, Path: objectstore.Path(prefix)}
	return Seq(ctx, s, call, func(ctx context.Context) iter.Seq2[objectstore.MultipartUpload, error] {
		inner, ok := s.inner.(objectstore.MultipartStore)
		if !ok {
			return Fail[objectstore.MultipartUpload](s.unsupported(objectstore.OpListMultiparts, objectstore.Path(prefix)))
		}
		return inner.ListMultiparts(ctx, prefix)
	})
}

// Fail is a sequence that yields only err.
func Fail[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}
