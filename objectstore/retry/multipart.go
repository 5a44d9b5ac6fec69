package retry

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store.
func (s *store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	if _, named := s.Inner().(objectstore.MultipartStore); named {
		return objectstore.NewUpload(ctx, s, path, options)
	}
	var inner objectstore.Upload
	err := s.attempts(objectstore.OpCreateMultipart, path).do(ctx, func() (err error) {
		inner, err = s.Store.PutMultipart(ctx, path, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &upload{s, path, inner}, nil
}

// upload is one of a store whose uploads have no names.
type upload struct {
	store *store
	path  objectstore.Path
	inner objectstore.Upload
}

func (u *upload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	if !body.Replayable() {
		return u.inner.PutPart(ctx, number, body)
	}
	return u.store.attempts(objectstore.OpUploadPart, u.path).do(ctx, func() error {
		return u.inner.PutPart(ctx, number, body)
	})
}

func (u *upload) Complete(ctx context.Context) (result *objectstore.PutResult, err error) {
	a := u.store.attempts(objectstore.OpCompleteMultipart, u.path)
	err = a.do(ctx, func() (err error) {
		result, err = u.inner.Complete(ctx)
		return err
	})
	return result, a.ambiguous(err, objectstore.ErrUploadNotFound, objectstore.ErrAlreadyExists, objectstore.ErrPrecondition)
}

func (u *upload) Abort(ctx context.Context) error {
	a := u.store.attempts(objectstore.OpAbortMultipart, u.path)
	err := a.do(ctx, func() error { return u.inner.Abort(ctx) })
	if a.repeated() && errors.Is(err, objectstore.ErrUploadNotFound) {
		return nil
	}
	return err
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (id string, err error) {
	err = s.attempts(objectstore.OpCreateMultipart, path).do(ctx, func() (err error) {
		id, err = s.Store.CreateMultipart(ctx, path, options)
		return err
	})
	return id, err
}

// UploadPart implements objectstore.MultipartStore.
func (s *store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (part objectstore.Part, err error) {
	if !body.Replayable() {
		return s.Store.UploadPart(ctx, path, id, number, body)
	}
	err = s.attempts(objectstore.OpUploadPart, path).do(ctx, func() (err error) {
		part, err = s.Store.UploadPart(ctx, path, id, number, body)
		return err
	})
	return part, err
}

// CompleteMultipart implements objectstore.MultipartStore.
func (s *store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	a := s.attempts(objectstore.OpCompleteMultipart, path)
	var result *objectstore.PutResult
	err := a.do(ctx, func() (err error) {
		result, err = s.Store.CompleteMultipart(ctx, path, id, parts, options)
		return err
	})
	if err == nil {
		return result, nil
	}
	err = a.ambiguous(err, objectstore.ErrUploadNotFound, objectstore.ErrAlreadyExists, objectstore.ErrPrecondition)
	// If the upload is gone and the object is what these parts make, it was
	// completed. An upload that is still there was not.
	if want := joinedETag(parts); errors.Is(err, ErrAmbiguous) && errors.Is(err, objectstore.ErrUploadNotFound) && want != "" {
		if meta, e := objectstore.Head(ctx, s, path); e == nil && meta.ETag == want {
			return &objectstore.PutResult{ETag: meta.ETag, Version: meta.Version}, nil
		}
	}
	return nil, err
}

// joinedETag returns the ETag that S3 gives an object of these parts, or "" when
// theirs are not MD5 sums.
func joinedETag(parts []objectstore.Part) string {
	sums := md5.New()
	for _, part := range parts {
		sum, err := hex.DecodeString(part.ETag)
		if err != nil || len(sum) != md5.Size {
			return ""
		}
		sums.Write(sum)
	}
	return fmt.Sprintf("%x-%d", sums.Sum(nil), len(parts))
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	a := s.attempts(objectstore.OpAbortMultipart, path)
	err := a.do(ctx, func() error { return s.Store.AbortMultipart(ctx, path, id) })
	if a.repeated() && errors.Is(err, objectstore.ErrUploadNotFound) {
		return nil
	}
	return err
}
