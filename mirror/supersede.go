package mirror

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/objectstore"
)

// Mirrored paths are written once (RFC 0034, Guarantees). When one is
// overwritten all the same, no local copy may stay that the remote no longer
// has, however the write ended:
//
//   - After a write that succeeded, only a copy with the ETag of its result
//     stays.
//   - After one whose condition was refused, only a copy with the remote's
//     current ETag: the refusal may answer a driver's second attempt, after the
//     first was stored.
//   - After any other failure none stays: the remote may have stored the
//     object, and only the answer was lost.

// validETag returns the ETag that a local copy of path must have to match the
// remote's object, after a write of it ended with result and err. It is empty
// when no copy will do.
func (m *Mirror) validETag(ctx context.Context, path objectstore.Path, result *objectstore.PutResult, err error) string {
	switch {
	case err == nil:
		return result.ETag
	case !errors.Is(err, objectstore.ErrAlreadyExists) && !errors.Is(err, objectstore.ErrPrecondition):
		return ""
	}
	// One attempt: a remote that can't say what it has costs the copy.
	w := watch(ctx, m.options.StallTimeout)
	defer w.stop()
	meta, err := objectstore.Head(w.ctx, m.remote, path)
	if err != nil {
		return ""
	}
	return meta.ETag
}

// dropDoubtful drops the local copy of path after a remote write of it that
// failed, unless the copy is known to be right. The path's turn is held.
func (m *Mirror) dropDoubtful(ctx context.Context, path objectstore.Path, err error) {
	e := m.local.Index.Get(path)
	if e == nil || e.IsOf(m.validETag(ctx, path, nil, err)) {
		return
	}
	m.logger.Warn("dropping the local copy, since a write of its object failed", "path", path, "error", err)
	m.dropStale(path)
}

// supersede makes sure that no local copy of path stays that a remote write has
// replaced; the write ended with result and err and took no turn. Reads that
// begin later don't see such a copy. When ctx ends it returns at once, and the
// removal goes on.
func (m *Mirror) supersede(ctx context.Context, path objectstore.Path, result *objectstore.PutResult, err error) {
	if m.ordering.settled(path, func() bool { return !m.local.Contains(path) }) {
		return
	}
	etag := m.validETag(ctx, path, result, err)
	if e := m.local.Index.Get(path); e != nil && !e.IsOf(etag) {
		// Reads must not find it while the removal waits for its turn.
		m.local.Forget(path, e)
		m.logger.Warn("dropping the local copy, since its object was overwritten", "path", path, "error", err)
	}
	// A download may be under way that began before the write.
	done := make(chan struct{})
	m.evictions.enqueue(path, &eviction{binding: true, keep: etag, done: func(bool, error) { close(done) }})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// remoteUpload is an upload to the remote only.
type remoteUpload struct {
	objectstore.Upload
	m    *Mirror
	path objectstore.Path
}

func (u *remoteUpload) Complete(ctx context.Context) (*objectstore.PutResult, error) {
	leave, err := u.m.enter(objectstore.OpCompleteMultipart, u.path)
	if err != nil {
		return nil, err
	}
	defer leave()
	result, err := u.Upload.Complete(ctx)
	u.m.supersede(ctx, u.path, result, err)
	return result, err
}
