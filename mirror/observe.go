package mirror

import (
	"bytes"
	"context"
	"errors"
	"io"

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
	result, err := m.remote.Get(ctx, path, &whole)
	if err != nil {
		return nil, err
	}
	data, err := readBody(result)
	if err != nil {
		return nil, &objectstore.Error{Op: "get", Store: m.name, Path: string(path), Err: err}
	}
	if err := m.observe(ctx, path, data); err != nil {
		return nil, m.fail("get", path, err)
	}
	start, end, err := options.Range.Resolve(int64(len(data)))
	if err != nil {
		return nil, m.fail("get", path, err)
	}
	result.Start, result.End = start, end
	result.Body = memoryBody{bytes.NewReader(data[start:end])}
	return result, nil
}

// observe shows data to the policy; the error is a PolicyError.
func (m *Mirror) observe(ctx context.Context, path objectstore.Path, data []byte) error {
	m.counters.observed.Add(1)
	if err := m.policy.Observe(ctx, path, data, Handle{m}); err != nil {
		return &PolicyError{path, err}
	}
	return nil
}

// memoryBody is a Body of bytes in memory.
type memoryBody struct{ *bytes.Reader }

func (memoryBody) Close() error { return nil }

// readBody reads and closes the Body of a result. The memory that it takes
// follows the bytes that come, not the size that was promised.
func readBody(result *objectstore.GetResult) ([]byte, error) {
	src := &source{body: result.Body, at: result.Start, end: result.End}
	defer src.close()
	var data bytes.Buffer
	data.Grow(int(min(max(0, src.end-src.at), copySize)))
	for src.at < src.end {
		if _, err := data.ReadFrom(io.LimitReader(src, src.end-src.at)); err != nil {
			return nil, err
		}
	}
	if err := src.finish(); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// Read implements io.Reader for readBody.
func (s *source) Read(p []byte) (int, error) { return s.read(p) }

// getRemote implements Handle.GetRemote.
func (m *Mirror) getRemote(ctx context.Context, path objectstore.Path) ([]byte, error) {
	for retries := 0; ; {
		result, err := m.remote.Get(ctx, path, &objectstore.GetOptions{})
		if err == nil {
			var data []byte
			if data, err = readBody(result); err == nil {
				return data, nil
			}
		}
		if err := m.retry.wait(ctx, &retries, err); err != nil {
			var own *objectstore.Error
			if !errors.As(err, &own) {
				err = &objectstore.Error{Op: "get", Store: m.name, Path: string(path), Err: err}
			}
			return nil, err
		}
	}
}
