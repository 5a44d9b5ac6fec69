package objectstore

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// NewUpload starts a multipart upload on store and returns it as an [Upload].
// It is the PutMultipart of every driver that is a [MultipartStore].
//
// Complete without any part uploads one empty part first, so an empty object
// can be written this way too. Abort after a Complete that succeeded does
// nothing, so it can be deferred.
func NewUpload(ctx context.Context, store MultipartStore, path Path, options *MultipartOptions) (Upload, error) {
	if options == nil {
		options = &MultipartOptions{}
	}
	if err := options.Mode.Validate(options.UpdateVersion); err != nil {
		return nil, &Error{Op: OpCreateMultipart, Store: store.String(), Path: string(path), Err: err}
	}
	id, err := store.CreateMultipart(ctx, path, options)
	if err != nil {
		return nil, err
	}
	return &upload{
		store: store, path: path, id: id,
		complete: CompleteOptions{Mode: options.Mode, UpdateVersion: options.UpdateVersion, Extensions: options.Extensions},
		parts:    map[int]Part{},
	}, nil
}

type upload struct {
	store    MultipartStore
	path     Path
	id       string
	complete CompleteOptions

	mu    sync.Mutex
	parts map[int]Part
	done  bool
}

func (u *upload) PutPart(ctx context.Context, number int, body Body) error {
	if err := CheckPartNumber(number); err != nil {
		return u.fail(OpUploadPart, err)
	}
	part, err := u.store.UploadPart(ctx, u.path, u.id, number, body)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[number] = part
	return nil
}

func (u *upload) Complete(ctx context.Context) (*PutResult, error) {
	u.mu.Lock()
	empty := len(u.parts) == 0
	u.mu.Unlock()
	if empty {
		if err := u.PutPart(ctx, 1, Bytes(nil)); err != nil {
			return nil, err
		}
	}
	u.mu.Lock()
	parts := slices.SortedFunc(maps.Values(u.parts), func(a, b Part) int { return a.Number - b.Number })
	u.mu.Unlock()
	result, err := u.store.CompleteMultipart(ctx, u.path, u.id, parts, &u.complete)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.done = true
	return result, nil
}

func (u *upload) Abort(ctx context.Context) error {
	u.mu.Lock()
	done := u.done
	u.mu.Unlock()
	if done {
		return nil
	}
	return u.store.AbortMultipart(ctx, u.path, u.id)
}

func (u *upload) fail(op string, err error) error {
	return &Error{Op: op, Store: u.store.String(), Path: string(u.path), Err: err}
}
