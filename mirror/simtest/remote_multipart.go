package simtest

import (
	"context"
	"strconv"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store.
func (r *remote) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, r, path, options)
}

// CreateMultipart implements objectstore.MultipartStore.
func (r *remote) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	const op = objectstore.OpCreateMultipart
	if _, err := r.begin(ctx, op, path, ""); err != nil {
		return "", err
	}
	id, err := r.Store.CreateMultipart(ctx, path, options)
	if lost := r.answer(ctx, op, path, ""); lost != nil {
		return "", lost
	}
	return id, err
}

// UploadPart implements objectstore.MultipartStore.
func (r *remote) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	const op = objectstore.OpUploadPart
	detail := id + " " + strconv.Itoa(number)
	if _, err := r.begin(ctx, op, path, detail); err != nil {
		return objectstore.Part{}, err
	}
	data, err := r.receive(ctx, op, path, detail, body)
	if err != nil {
		return objectstore.Part{}, err
	}
	part, err := r.Store.UploadPart(ctx, path, id, number, objectstore.Bytes(data))
	if lost := r.answer(ctx, op, path, detail); lost != nil {
		return objectstore.Part{}, lost
	}
	return part, err
}

// CompleteMultipart implements objectstore.MultipartStore.
func (r *remote) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	const op = objectstore.OpCompleteMultipart
	r.s.reached(opOf(ctx))
	defer r.s.alone(r.l, path, op)()
	if _, err := r.begin(ctx, op, path, id); err != nil {
		return nil, err
	}
	result, err := r.Store.CompleteMultipart(ctx, path, id, parts, options)
	if err == nil {
		r.s.stored(opOf(ctx), path)
	}
	if lost := r.answer(ctx, op, path, id); lost != nil {
		return nil, lost
	}
	return result, err
}

// AbortMultipart implements objectstore.MultipartStore.
func (r *remote) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	const op = objectstore.OpAbortMultipart
	if _, err := r.begin(ctx, op, path, id); err != nil {
		return err
	}
	err := r.Store.AbortMultipart(ctx, path, id)
	if lost := r.answer(ctx, op, path, id); lost != nil {
		return lost
	}
	return err
}
