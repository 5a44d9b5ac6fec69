package mirror

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store: the policy's MultipartRoute says
// where to. With [MultipartMirror], a local failure in a part or in Complete
// aborts the upload and is returned as a [Local]; one after the remote has
// completed it as a [WriteCommitted].
func (m *Mirror) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	leave, err := m.enter(objectstore.OpCreateMultipart, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	route, err := m.multipartRoute(path, options)
	if err != nil {
		return nil, m.fail(objectstore.OpCreateMultipart, path, err)
	}
	if route == MultipartRemote {
		upload, err := m.remote.PutMultipart(ctx, path, options)
		if err != nil {
			return nil, err
		}
		return &remoteUpload{upload, m, path}, nil
	}
	p, err := newParts(ctx, m.local, path, options.Attributes)
	if err != nil {
		return nil, m.fail(objectstore.OpCreateMultipart, path, err)
	}
	upload, err := m.remote.PutMultipart(ctx, path, options)
	if err != nil {
		p.discard()
		return nil, err
	}
	u := &mirroredUpload{m: m, path: path, remote: upload, parts: p}
	m.uploads.add(uploadKey{upload: u}, p)
	return u, nil
}

// multipartRoute asks the policy; the error is a PolicyError.
func (m *Mirror) multipartRoute(path objectstore.Path, options *objectstore.MultipartOptions) (MultipartRoute, error) {
	route, err := m.policy.MultipartRoute(path, options)
	if err == nil && route != MultipartRemote && route != MultipartMirror {
		err = fmt.Errorf("%v does not exist", route)
	}
	if err != nil {
		return 0, &PolicyError{path, err}
	}
	return route, nil
}

// mirroredUpload is an Upload that goes to the remote and the local disk.
type mirroredUpload struct {
	m      *Mirror
	path   objectstore.Path
	remote objectstore.Upload
	parts  *parts
}

func (u *mirroredUpload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	leave, err := u.m.enter(objectstore.OpUploadPart, u.path)
	if err != nil {
		return err
	}
	defer leave()
	if err := objectstore.CheckPartNumber(number); err != nil {
		return u.m.fail(objectstore.OpUploadPart, u.path, err)
	}
	err = u.parts.put(ctx, number, body, func(body objectstore.Body) (string, error) {
		return "", u.remote.PutPart(ctx, number, body)
	})
	if err != nil {
		err = u.m.failPart(ctx, u.path, u.parts, err, func(ctx context.Context) error { return u.remote.Abort(ctx) })
		u.m.settle(uploadKey{upload: u}, u.parts, err, false)
		return err
	}
	return nil
}

func (u *mirroredUpload) Complete(ctx context.Context) (*objectstore.PutResult, error) {
	result, err := u.m.completeParts(ctx, u.path, u.parts, u.parts.all(), u.remote.Complete, u.remote.Abort)
	u.m.settle(uploadKey{upload: u}, u.parts, err, err == nil)
	return result, err
}

func (u *mirroredUpload) Abort(ctx context.Context) error {
	leave, err := u.m.enter(objectstore.OpAbortMultipart, u.path)
	if err != nil {
		return err
	}
	defer leave()
	u.parts.discard()
	u.m.uploads.remove(uploadKey{upload: u})
	return u.remote.Abort(ctx)
}

// failPart returns the error of a part, after aborting the upload when the
// local disk failed.
func (m *Mirror) failPart(ctx context.Context, path objectstore.Path, p *parts, err error, abort func(context.Context) error) error {
	if isLocalFailure(err) {
		m.local.Tally.Errors.Add(1)
		m.abortAfter(ctx, path, p, err, abort)
	}
	return m.fail(objectstore.OpUploadPart, path, err)
}

// abortAfter aborts an upload whose local side failed.
func (m *Mirror) abortAfter(ctx context.Context, path objectstore.Path, p *parts, cause error, abort func(context.Context) error) {
	p.discard()
	// The clean-up goes on even when the caller has given up.
	if err := abort(context.WithoutCancel(ctx)); err != nil {
		m.logger.Warn("upload can't be aborted", "path", path, "error", err, "cause", cause)
	}
}

// completeParts completes an upload at the remote and installs the local copy.
// p is nil when nothing of it is here: then the object is downloaded.
func (m *Mirror) completeParts(
	ctx context.Context, path objectstore.Path, p *parts, chosen []objectstore.Part,
	complete func(context.Context) (*objectstore.PutResult, error), abort func(context.Context) error,
) (*objectstore.PutResult, error) {
	const op = objectstore.OpCompleteMultipart
	leave, err := m.enter(op, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	// The object comes into being here, so the write takes its turn only now: an
	// upload that nobody completes must not hold up its path.
	release, err := m.takeTurn(ctx, turnWrite, path)
	if err != nil {
		return nil, m.fail(op, path, err)
	}
	defer release()
	var s *local.Staged
	md := local.Metadata{}
	if p != nil {
		defer p.pin()()
		s, md.Size, md.Blocks, err = p.assemble(ctx, chosen)
		if err != nil {
			m.local.Tally.Errors.Add(1)
			m.abortAfter(ctx, path, p, err, abort)
			return nil, m.fail(op, path, err)
		}
		md.Attributes = p.attributes
	}
	result, err := complete(ctx)
	if err != nil {
		m.dropDoubtful(ctx, path, err)
		return nil, m.fail(op, path, err)
	}
	if p != nil {
		defer p.discard()
	}
	if s == nil {
		if err := m.downloadWritten(ctx, op, path); err != nil {
			return nil, err
		}
		return result, nil
	}
	md.Modified, md.ETag, md.Version = m.options.Clock.Now(), result.ETag, result.Version
	if err := m.finishWrite(ctx, op, path, s, md, nil); err != nil {
		return nil, err
	}
	return result, nil
}

// downloadWritten downloads an object that was just written and whose bytes
// are not here. The path's turn is held.
func (m *Mirror) downloadWritten(ctx context.Context, op string, path objectstore.Path) error {
	f := &flight{path: path}
	if _, err := m.downloads.download(ctx, f); err != nil {
		m.dropStale(path)
		return m.committed(op, path, err)
	}
	bump(&m.counters.MirrorWrites, 1)
	return nil
}
