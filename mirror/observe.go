package mirror

import (
	"bytes"
	"context"
	"errors"

	"github.com/stardustdb/stardust/objectstore"
)

// getObserved reads from the remote and shows the policy the whole object
// before the caller gets what it asked for. A HEAD, and a condition that lets
// no body through, show it nothing.
func (m *Mirror) getObserved(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options.Head {
		return m.remote.Get(ctx, path, options)
	}
	whole := *options
	whole.Range = nil
	// Only the caller's context bounds it, since the caller also retries it.
	var src source
	result, err := src.open(ctx, m.remote, path, &whole, 0)
	if err != nil {
		return nil, err
	}
	data, err := src.readAll()
	if err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpGet, Store: m.name, Path: string(path), Err: err}
	}
	if err := m.observe(ctx, path, data); err != nil {
		return nil, m.fail(objectstore.OpGet, path, err)
	}
	start, end, err := options.Range.Resolve(int64(len(data)))
	if err != nil {
		return nil, m.fail(objectstore.OpGet, path, err)
	}
	result.Start, result.End = start, end
	result.Body = memoryBody{bytes.NewReader(data[start:end])}
	return result, nil
}

// observe shows data to the policy; the error is a PolicyError.
func (m *Mirror) observe(ctx context.Context, path objectstore.Path, data []byte) error {
	bump(&m.counters.Observed, 1)
	if err := m.policy.Observe(ctx, path, data, Handle{m}); err != nil {
		return &PolicyError{path, err}
	}
	return nil
}

// memoryBody is a Body of bytes in memory.
type memoryBody struct{ *bytes.Reader }

func (memoryBody) Close() error { return nil }

// getRemote implements Handle.GetRemote.
func (m *Mirror) getRemote(ctx context.Context, path objectstore.Path) ([]byte, error) {
	for retries := 0; ; {
		var src source
		_, err := src.open(ctx, m.remote, path, &objectstore.GetOptions{}, m.options.StallTimeout)
		if err == nil {
			var data []byte
			if data, err = src.readAll(); err == nil {
				return data, nil
			}
		}
		if err := m.retry.wait(ctx, &retries, err); err != nil {
			if _, ok := errors.AsType[*objectstore.Error](err); !ok {
				err = &objectstore.Error{Op: objectstore.OpGet, Store: m.name, Path: string(path), Err: err}
			}
			return nil, err
		}
	}
}
