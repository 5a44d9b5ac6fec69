package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// Put implements objectstore.Store: the policy's route says where to (RFC
// 0034, Writes). Conditions pass through to the remote unchanged.
func (m *Mirror) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	leave, err := m.enter(objectstore.OpPut, path)
	if err != nil {
		return nil, err
	}
	defer leave()
	route, err := m.policy.PutRoute(path, options)
	if err != nil {
		return nil, m.fail(objectstore.OpPut, path, &PolicyError{path, err})
	}
	switch route {
	case WriteRemote:
		result, err := m.remote.Put(ctx, path, body, options)
		m.supersede(ctx, path, result, err)
		return result, err
	case WriteObserve:
		return m.putObserved(ctx, path, body, options)
	case WriteMirror:
		return m.putMirrored(ctx, path, body, options)
	default:
		return nil, m.fail(objectstore.OpPut, path, &PolicyError{path, fmt.Errorf("%v does not exist", route)})
	}
}

// putObserved writes to the remote and then shows the policy the payload.
func (m *Mirror) putObserved(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	data, err := body.ReadAll()
	if err != nil {
		return nil, m.fail(objectstore.OpPut, path, err)
	}
	result, err := m.remote.Put(ctx, path, objectstore.Bytes(data), options)
	m.supersede(ctx, path, result, err)
	if err != nil {
		return nil, err
	}
	if err := m.observe(ctx, path, data); err != nil {
		return nil, m.committed(objectstore.OpPut, path, err)
	}
	return result, nil
}

// committed is the error of a write that the remote has.
func (m *Mirror) committed(op string, path objectstore.Path, cause error) error {
	bump(&m.counters.WriteCommitted, 1)
	m.logger.Error("the write reached the remote but was not finished locally", "path", path, "error", cause)
	return m.fail(op, path, &WriteCommitted{path, cause})
}

// putMirrored writes to the remote and a temporary file at the same time, and
// installs the file once the remote has the object.
func (m *Mirror) putMirrored(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if err := body.Validate(); err != nil {
		return nil, m.fail(objectstore.OpPut, path, err)
	}
	release, err := m.takeTurn(ctx, turnWrite, path)
	if err != nil {
		return nil, m.fail(objectstore.OpPut, path, err)
	}
	defer release()
	s, err := m.local.Stage(ctx, path)
	if err != nil && !isLocalFailure(err) {
		return nil, m.fail(objectstore.OpPut, path, err)
	}
	tee := &tee{err: err} // a file that can't be made is reported in the end
	if s != nil {
		defer s.Discard()
		tee.write = s.Write
	}
	var result *objectstore.PutResult
	err = tee.send(body, func(body objectstore.Body) (err error) {
		result, err = m.remote.Put(ctx, path, body, options)
		return err
	})
	if err != nil {
		m.dropDoubtful(ctx, path, err)
		return nil, m.fail(objectstore.OpPut, path, err)
	}
	md := local.Metadata{
		Size: body.Size(), Modified: m.options.Clock.Now(), ETag: result.ETag, Version: result.Version,
		Attributes: options.Attributes, Blocks: tee.sums.Sum(),
	}
	if err := m.finishWrite(ctx, objectstore.OpPut, path, s, md, tee.err); err != nil {
		return nil, err
	}
	return result, nil
}

// finishWrite installs the local copy of a write that the remote has, unless
// the copy failed already. The path's turn is held.
func (m *Mirror) finishWrite(ctx context.Context, op string, path objectstore.Path, s *local.Staged, md local.Metadata, failed error) error {
	if failed == nil {
		// Giving up now would leave the write half done.
		_, failed = s.Install(context.WithoutCancel(ctx), md)
	}
	if failed != nil {
		m.dropStale(path)
		return m.committed(op, path, failed)
	}
	bump(&m.counters.MirrorWrites, 1)
	return nil
}

// dropStale removes a local copy that may be older than the remote object.
func (m *Mirror) dropStale(path objectstore.Path) {
	// A failure is logged there, and the copy has left the map anyway.
	_, _ = m.local.Remove(path)
}

// tee copies a body to the local disk while the remote reads it. A local
// failure does not disturb the remote.
type tee struct {
	write func(p []byte, off int64) error
	stop  chan struct{} // closed when the copy is of no use any more
	sums  local.BlockSummer
	at    int64
	err   error // a Local, or that of the body
}

// send copies the body while put sends it to the remote. It returns put's
// error; the copy's is in t.err.
func (t *tee) send(body objectstore.Body, put func(objectstore.Body) error) error {
	t.stop = make(chan struct{})
	if !body.Replayable() {
		// What is read for the remote is copied on the way.
		err := put(objectstore.Stream(io.TeeReader(body.Open(), t), body.Size()))
		t.check(body.Size())
		return err
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		t.copy(body.Open())
		t.check(body.Size())
	}()
	err := put(body)
	if err != nil {
		close(t.stop)
	}
	<-copied
	return err
}

// copy copies r until its end or stop.
func (t *tee) copy(r io.Reader) {
	if whole, ok := r.(io.WriterTo); ok {
		// The bytes are in memory already: no need to copy them again.
		if _, err := whole.WriteTo(t); err != nil && t.err == nil {
			t.err = err
		}
		return
	}
	buffer := make([]byte, copySize)
	for t.err == nil {
		n, err := r.Read(buffer)
		_, _ = t.Write(buffer[:n])
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil && t.err == nil {
			t.err = err
		}
	}
}

// Write implements io.Writer: it never fails, since the remote must get its
// bytes all the same.
func (t *tee) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && t.err == nil; {
		select {
		case <-t.stop:
			t.err = errStopped
		default:
			piece := rest[:min(copySize, len(rest))]
			if t.err = t.write(piece, t.at); t.err == nil {
				t.sums.Write(piece)
				t.at += int64(len(piece))
			}
			rest = rest[len(piece):]
		}
	}
	return len(p), nil
}

var errStopped = errors.New("the remote does not take the object")

func (t *tee) check(size int64) {
	if t.err == nil && t.at != size {
		t.err = fmt.Errorf("%d of %d bytes reached the local copy: %w", t.at, size, io.ErrUnexpectedEOF)
	}
}
