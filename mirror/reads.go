package mirror

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// maxReadTries bounds how often a read downloads its object and finds it
// evicted before it could open it.
const maxReadTries = 8

// Get implements objectstore.Store: the policy's route says where from (RFC
// 0034, Reads). The Body of a local read is an io.ReaderAt and io.ReadSeeker,
// and without verification an objectstore.FileBody.
func (m *Mirror) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	if m.closed.Load() {
		return nil, m.fail(objectstore.OpGet, path, objectstore.ErrClosed)
	}
	route, err := m.policy.ReadRoute(path, options)
	if err != nil {
		return nil, m.fail(objectstore.OpGet, path, &PolicyError{path, err})
	}
	switch route {
	case ReadRemote:
		bump(&m.counters.RemoteReads, 1)
		return m.remote.Get(ctx, path, options)
	case ReadObserve:
		bump(&m.counters.RemoteReads, 1)
		return m.getObserved(ctx, path, options)
	case ReadLocal:
		return m.getLocal(ctx, path, options)
	case ReadRefetch:
		bump(&m.counters.Refetches, 1)
		return m.getDownloaded(ctx, path, options)
	case ReadThrough:
		return m.getThrough(ctx, path, options)
	default:
		return nil, m.fail(objectstore.OpGet, path, &PolicyError{path, fmt.Errorf("%v does not exist", route)})
	}
}

// getLocal reads the local copy only.
func (m *Mirror) getLocal(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := m.serve(ctx, path, options)
	switch {
	case err != nil:
		return nil, m.fail(objectstore.OpGet, path, err)
	case result == nil:
		bump(&m.counters.NotLocal, 1)
		return nil, m.fail(objectstore.OpGet, path, &NotLocal{path})
	}
	bump(&m.counters.Hits, 1)
	return result, nil
}

// serve answers from the local copy. The result is nil when there is none, or
// not of the version asked for.
func (m *Mirror) serve(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	e := m.local.Index.Get(path)
	if e == nil {
		return nil, nil
	}
	if done, result, err := m.answer(path, e, options); done {
		return result, err
	}
	h, err := m.local.Open(ctx, path, e)
	if h == nil || err != nil {
		return nil, err
	}
	if h.Entry != e {
		// It was replaced in between, so its metadata may have changed.
		if done, result, err := m.answer(path, h.Entry, options); done {
			_ = m.local.Files.Release(h)
			return result, err
		}
	}
	start, end, err := options.Range.Resolve(h.Entry.Size)
	if err != nil {
		_ = m.local.Files.Release(h)
		return nil, err
	}
	return m.openBody(ctx, path, h, start, end), nil
}

// answer answers what needs no file, from the metadata in memory: another
// version, conditions that don't hold, and HEAD. It returns false when the
// bytes are needed.
func (m *Mirror) answer(path objectstore.Path, e *local.Entry, options *objectstore.GetOptions) (done bool, result *objectstore.GetResult, err error) {
	if options.Version != "" && options.Version != e.Version() {
		return true, nil, nil
	}
	if options.IfMatch != "" || options.IfNoneMatch != "" || !options.IfModifiedSince.IsZero() || !options.IfUnmodifiedSince.IsZero() {
		if err := options.Check(e.Meta(path)); err != nil {
			return true, nil, err
		}
	}
	if !options.Head {
		return false, nil, nil
	}
	start, end, err := options.Range.Resolve(e.Size)
	if err != nil {
		return true, nil, err
	}
	head := &objectstore.GetResult{}
	describe(head, path, e, start, end)
	return true, head, nil
}

// getDownloaded downloads the object again and answers from the new copy.
func (m *Mirror) getDownloaded(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	for range maxReadTries {
		if err := m.await(ctx, m.downloads.launch(path, demand{force: true})); err != nil {
			return nil, err
		}
		result, err := m.serve(ctx, path, options)
		if err != nil {
			return nil, m.fail(objectstore.OpGet, path, err)
		}
		if result != nil {
			return result, nil
		}
		if options.Version != "" {
			break
		}
	}
	bump(&m.counters.NotLocal, 1)
	return nil, m.fail(objectstore.OpGet, path, &NotLocal{path})
}

// getThrough answers from the local copy, after downloading it when there is
// none. When the local disk fails, it answers from the remote: a cache that
// can't keep an object is slower, not broken.
func (m *Mirror) getThrough(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	for try := range maxReadTries {
		result, err := m.serve(ctx, path, options)
		switch {
		case isLocalFailure(err):
			return m.getAround(ctx, path, options, err)
		case err != nil:
			return nil, m.fail(objectstore.OpGet, path, err)
		case result != nil:
			if try == 0 {
				bump(&m.counters.Hits, 1)
			}
			return result, nil
		case options.Head, m.local.Contains(path) && options.Version != "":
			// Metadata is not worth a download, and a download would not bring another
			// version.
			return m.remote.Get(ctx, path, options)
		}
		if try == 0 {
			bump(&m.counters.ReadThroughs, 1)
		}
		if err := m.await(ctx, m.downloads.launch(path, demand{})); err != nil {
			switch {
			case isNotLocal(err):
				return m.remote.Get(ctx, path, options) // not admitted
			case isLocalFailure(err):
				return m.getAround(ctx, path, options, err)
			}
			return nil, err
		}
	}
	return m.getAround(ctx, path, options, &NotLocal{path})
}

// getAround answers from the remote because the local disk can't.
func (m *Mirror) getAround(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions, cause error) (*objectstore.GetResult, error) {
	m.logger.Warn("the local disk failed a read; the remote answers it", "path", path, "error", cause)
	return m.remote.Get(ctx, path, options)
}

// await waits for a flight, which may be nil, and leaves it when ctx ends.
func (m *Mirror) await(ctx context.Context, f *flight) error {
	if f == nil {
		return nil
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		f.leave(nil, m.ordering.cancel)
		return m.fail(objectstore.OpGet, f.path, ctx.Err())
	}
}
