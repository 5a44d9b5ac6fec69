package bucketdb

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// fate is what becomes of a call that waits at its gate.
type fate int

const (
	goesWell   fate = iota
	isLost          // the request never arrives
	loseAnswer      // it takes effect, and the answer is lost
	isLate          // a time-out is reported, and it arrives later, or never
	isRepeated      // the answer is lost, and the driver repeats the request by itself
	arrivesTwice
	isCut   // the body ends early
	isStale // a list as it was some time ago
)

// call is a call at its gate.
type call struct {
	p     *process
	what  string
	grant chan fate
	gone  bool // its caller has given up
}

// gate waits until the world lets a call of a process go on.
func (w *world) gate(ctx context.Context, p *process, what string) (fate, error) {
	c := &call{p: p, what: what, grant: make(chan fate)}
	w.mu.Lock()
	if p.killed {
		w.mu.Unlock()
		return 0, errKilled
	}
	w.waiting = append(w.waiting, c)
	w.mu.Unlock()
	select {
	case f := <-c.grant:
		return f, nil
	case <-p.dead:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c.gone = true
	if p.killed {
		return 0, errKilled
	}
	return 0, ctx.Err()
}

// gated is the store of a world as one process sees it.
type gated struct {
	objectstore.Store
	w *world
	p *process
}

func (s *gated) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.String(), Path: string(path), Err: err}
}

// Put implements objectstore.Store.
func (s *gated) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	data, err := body.ReadAll()
	if err != nil {
		return nil, err
	}
	f, err := s.w.gate(ctx, s.p, "put "+string(path))
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	if f != goesWell && strings.HasPrefix(string(path), logPrefix) {
		s.p.doubtful = true
	}
	put := func() (*objectstore.PutResult, error) {
		return s.Store.Put(context.Background(), path, objectstore.Bytes(data), options)
	}
	lost := objectstore.Transient(errCut, 0)
	switch f {
	case isLost:
		return nil, s.fail(objectstore.OpPut, path, lost)
	case isLate:
		s.w.later(s.p, "put "+string(path), func() error { _, err := put(); return err })
		return nil, s.fail(objectstore.OpPut, path, context.DeadlineExceeded)
	case arrivesTwice:
		s.w.later(nil, "put "+string(path), func() error { _, err := put(); return err })
	case isRepeated:
		_, _ = put() // whose answer nobody gets
	}
	result, err := put()
	if err == nil && f == loseAnswer {
		return nil, s.fail(objectstore.OpPut, path, lost)
	}
	return result, err
}

// Get implements objectstore.Store.
func (s *gated) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	op := objectstore.OpGet
	if options != nil && options.Head {
		op = objectstore.OpHead
	}
	f, err := s.w.gate(ctx, s.p, op+" "+string(path))
	if f != goesWell && strings.HasPrefix(string(path), logPrefix) {
		s.p.doubtful = true
	}
	if err == nil && f == isLost {
		err = objectstore.Transient(errCut, 0)
	}
	if err != nil {
		return nil, s.fail(op, path, err)
	}
	result, err := s.Store.Get(context.Background(), path, options)
	if err == nil && f == isCut && result.Body != nil {
		inner := result.Body
		result.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(inner, int64(s.w.draw(300))), cutReader{}), inner}
	}
	return result, err
}

// cutReader fails as a connection does that breaks.
type cutReader struct{}

func (cutReader) Read([]byte) (int, error) {
	return 0, objectstore.Transient(fmt.Errorf("%w: %w", errCut, io.ErrUnexpectedEOF), 0)
}

// Delete implements objectstore.Store.
func (s *gated) Delete(ctx context.Context, path objectstore.Path) error {
	f, err := s.w.gate(ctx, s.p, "delete "+string(path))
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	remove := func() error {
		s.w.deleted(path)
		return s.Store.Delete(context.Background(), path)
	}
	switch f {
	case isLost:
		return s.fail(objectstore.OpDelete, path, objectstore.Transient(errCut, 0))
	case isLate:
		s.w.later(nil, "delete "+string(path), remove)
		return s.fail(objectstore.OpDelete, path, context.DeadlineExceeded)
	case isRepeated:
		_ = remove() // whose answer nobody gets
	}
	err = remove()
	if f == loseAnswer {
		return s.fail(objectstore.OpDelete, path, objectstore.Transient(errCut, 0))
	}
	return err
}

// List implements objectstore.Store.
func (s *gated) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		f, err := s.w.gate(ctx, s.p, "list "+options.Prefix+" "+options.Offset)
		if err == nil && f == isLost {
			err = objectstore.Transient(errCut, 0)
		}
		if err != nil {
			yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
			return
		}
		for i, meta := range s.w.listing(f == isStale) {
			if f == isCut && i > 2 {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), objectstore.Transient(errCut, 0)))
				return
			}
			if strings.HasPrefix(string(meta.Path), options.Prefix) && string(meta.Path) > options.Offset && !yield(meta, nil) {
				return
			}
		}
	}
}
