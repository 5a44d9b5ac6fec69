package mirror

import (
	"context"
	"fmt"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// multipartStore returns the remote as a MultipartStore.
func (m *Mirror) multipartStore(op string, path objectstore.Path) (objectstore.MultipartStore, error) {
	store, ok := m.remote.(objectstore.MultipartStore)
	if !ok {
		return nil, m.fail(op, path, fmt.Errorf("%w: uploads of %s have no ids", objectstore.ErrUnsupported, m.remote))
	}
	return store, nil
}

// CreateMultipart implements objectstore.MultipartStore.
func (m *Mirror) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	store, err := m.multipartStore(objectstore.OpCreateMultipart, path)
	if err != nil {
		return "", err
	}
	leave, err := m.enter(objectstore.OpCreateMultipart, path)
	if err != nil {
		return "", err
	}
	defer leave()
	route, err := m.multipartRoute(path, options)
	if err != nil {
		return "", m.fail(objectstore.OpCreateMultipart, path, err)
	}
	if route == MultipartRemote {
		return store.CreateMultipart(ctx, path, options)
	}
	p, err := newParts(ctx, m.local, path, options.Attributes)
	if err != nil {
		return "", m.fail(objectstore.OpCreateMultipart, path, err)
	}
	id, err := store.CreateMultipart(ctx, path, options)
	if err != nil {
		p.discard()
		return "", err
	}
	m.uploads.add(uploadKey{path: path, id: id}, p)
	return id, nil
}

// UploadPart implements objectstore.MultipartStore.
func (m *Mirror) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	store, err := m.multipartStore(objectstore.OpUploadPart, path)
	if err != nil {
		return objectstore.Part{}, err
	}
	leave, err := m.enter(objectstore.OpUploadPart, path)
	if err != nil {
		return objectstore.Part{}, err
	}
	defer leave()
	p := m.uploads.get(uploadKey{path: path, id: id})
	if p == nil || objectstore.CheckPartNumber(number) != nil {
		return store.UploadPart(ctx, path, id, number, body)
	}
	var uploaded objectstore.Part
	err = p.put(ctx, number, body, func(body objectstore.Body) (etag string, err error) {
		uploaded, err = store.UploadPart(ctx, path, id, number, body)
		return uploaded.ETag, err
	})
	if err != nil {
		err = m.failPart(ctx, path, p, err, func(ctx context.Context) error { return store.AbortMultipart(ctx, path, id) })
		m.settle(uploadKey{path: path, id: id}, p, err, false)
		return objectstore.Part{}, err
	}
	return uploaded, nil
}

// CompleteMultipart implements objectstore.MultipartStore. Parts that an
// earlier process uploaded are not here: then the object is downloaded before
// it returns.
func (m *Mirror) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	const op = objectstore.OpCompleteMultipart
	if options == nil {
		options = &objectstore.CompleteOptions{}
	}
	store, err := m.multipartStore(op, path)
	if err != nil {
		return nil, err
	}
	key := uploadKey{path: path, id: id}
	p := m.uploads.get(key)
	if p == nil {
		route, err := m.multipartRoute(path, &objectstore.MultipartOptions{
			Mode: options.Mode, UpdateVersion: options.UpdateVersion, Extensions: options.Extensions,
		})
		if err != nil {
			return nil, m.fail(op, path, err)
		}
		if route == MultipartRemote {
			leave, err := m.enter(op, path)
			if err != nil {
				return nil, err
			}
			defer leave()
			result, err := store.CompleteMultipart(ctx, path, id, parts, options)
			m.supersede(ctx, path, result, err)
			return result, err
		}
	}
	result, err := m.completeParts(ctx, path, p, parts,
		func(ctx context.Context) (*objectstore.PutResult, error) {
			return store.CompleteMultipart(ctx, path, id, parts, options)
		},
		func(ctx context.Context) error { return store.AbortMultipart(ctx, path, id) })
	m.settle(key, p, err, err == nil)
	return result, err
}

// AbortMultipart implements objectstore.MultipartStore.
func (m *Mirror) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	store, err := m.multipartStore(objectstore.OpAbortMultipart, path)
	if err != nil {
		return err
	}
	leave, err := m.enter(objectstore.OpAbortMultipart, path)
	if err != nil {
		return err
	}
	defer leave()
	key := uploadKey{path: path, id: id}
	if p := m.uploads.get(key); p != nil {
		p.discard()
		m.uploads.remove(key)
	}
	return store.AbortMultipart(ctx, path, id)
}

// ListParts implements objectstore.MultipartStore: it asks the remote.
func (m *Mirror) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	store, err := m.multipartStore(objectstore.OpListParts, path)
	if err == nil && m.closed.Load() {
		err = m.fail(objectstore.OpListParts, path, objectstore.ErrClosed)
	}
	if err != nil {
		return func(yield func(objectstore.Part, error) bool) { yield(objectstore.Part{}, err) }
	}
	return store.ListParts(ctx, path, id)
}

// ListMultiparts implements objectstore.MultipartStore: it asks the remote.
func (m *Mirror) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	store, err := m.multipartStore(objectstore.OpListMultiparts, objectstore.Path(prefix))
	if err == nil && m.closed.Load() {
		err = m.fail(objectstore.OpListMultiparts, objectstore.Path(prefix), objectstore.ErrClosed)
	}
	if err != nil {
		return func(yield func(objectstore.MultipartUpload, error) bool) {
			yield(objectstore.MultipartUpload{}, err)
		}
	}
	return store.ListMultiparts(ctx, prefix)
}
