package prefix

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store.
func (s *store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	inner, err := s.inner.PutMultipart(ctx, s.in(path), options)
	if err != nil {
		return nil, s.fail(err)
	}
	return &upload{s, inner}, nil
}

type upload struct {
	store *store
	inner objectstore.Upload
}

func (u *upload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	return u.store.fail(u.inner.PutPart(ctx, number, body))
}

func (u *upload) Complete(ctx context.Context) (*objectstore.PutResult, error) {
	result, err := u.inner.Complete(ctx)
	return result, u.store.fail(err)
}

func (u *upload) Abort(ctx context.Context) error { return u.store.fail(u.inner.Abort(ctx)) }

// CreateMultipart implements objectstore.MultipartStore.
func (s *store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	id, err := s.inner.CreateMultipart(ctx, s.in(path), options)
	return id, s.fail(err)
}

// UploadPart implements objectstore.MultipartStore.
func (s *store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	part, err := s.inner.UploadPart(ctx, s.in(path), id, number, body)
	return part, s.fail(err)
}

// CompleteMultipart implements objectstore.MultipartStore.
func (s *store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	result, err := s.inner.CompleteMultipart(ctx, s.in(path), id, parts, options)
	return result, s.fail(err)
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	return s.fail(s.inner.AbortMultipart(ctx, s.in(path), id))
}

// ListParts implements objectstore.MultipartStore.
func (s *store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		for part, err := range s.inner.ListParts(ctx, s.in(path), id) {
			if !yield(part, s.fail(err)) {
				return
			}
		}
	}
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		if objectstore.OnlyDots(prefix) {
			return // there are none
		}
		for upload, err := range s.inner.ListMultiparts(ctx, s.prefix+prefix) {
			upload.Path = s.out(upload.Path)
			if !yield(upload, s.fail(err)) {
				return
			}
		}
	}
}
