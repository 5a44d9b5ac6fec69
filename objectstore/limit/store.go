package limit

import (
	"context"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// New returns a store that lets at most calls reads of inner run at once, and as
// many writes; others wait, until their context ends. Reads and writes wait apart
// from each other, because a copy writes what it is reading: copies that each held
// the last of the slots for reading would wait for each other. Zero or less means no
// limit and returns inner.
//
// A Get with a body counts until the body is closed: a caller that keeps as many
// bodies open as there may be reads, and reads more, waits for itself. A list
// counts while inner works, not while its consumer does, so the consumer may
// make calls.
func New(inner objectstore.Store, calls int) objectstore.Store {
	if calls <= 0 {
		return inner
	}
	s := &store{reads: make(slots, calls), writes: make(slots, calls)}
	s.Store = intercept.New(inner, intercept.Hooks{
		Begin: func(ctx context.Context, call intercept.Call) (func(error), error) {
			slots := s.of(call.Op)
			if err := slots.acquire(ctx); err != nil {
				return nil, s.fail(call.Op, call.Path, err)
			}
			return func(error) { slots.release() }, nil
		},
	})
	return intercept.View(s, inner)
}

type store struct {
	*intercept.Store
	reads, writes slots
}

// of returns the slots of an operation.
func (s *store) of(op string) slots {
	switch op {
	case objectstore.OpGet, objectstore.OpHead, objectstore.OpTags, objectstore.OpVersions, objectstore.OpList,
		objectstore.OpListWithDelimiter, objectstore.OpListParts, objectstore.OpListMultiparts:
		return s.reads
	}
	return s.writes
}

// slots has room for as many as may run at once.
type slots chan struct{}

func (s slots) acquire(ctx context.Context) error {
	// Without this a select with both ready may choose the slot.
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) release() { <-s }

func (s *store) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.String(), Path: string(path), Err: err}
}

// List implements objectstore.Store.
func (s *store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	var path objectstore.Path
	if options != nil {
		path = objectstore.Path(options.Prefix)
	}
	return bounded(ctx, s, objectstore.OpList, path, s.Inner().List(ctx, options))
}

// ListParts implements objectstore.MultipartStore.
func (s *store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	inner, ok := s.Inner().(objectstore.MultipartStore)
	if !ok {
		return s.Store.ListParts(ctx, path, id)
	}
	return bounded(ctx, s, objectstore.OpListParts, path, inner.ListParts(ctx, path, id))
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	inner, ok := s.Inner().(objectstore.MultipartStore)
	if !ok {
		return s.Store.ListMultiparts(ctx, prefix)
	}
	return bounded(ctx, s, objectstore.OpListMultiparts, objectstore.Path(prefix), inner.ListMultiparts(ctx, prefix))
}

// DeleteAll implements objectstore.BulkDeleter. The slot is free while the
// paths are drawn, as they may come from a list of this store.
func (s *store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		slot := slot{slots: s.writes}
		defer slot.release()
		if err := slot.acquire(ctx); err != nil {
			yield("", s.fail(objectstore.OpDeleteAll, "", err))
			return
		}
		drawn := func(yield func(objectstore.Path) bool) {
			slot.release()
			for path := range paths {
				if slot.acquire(ctx) != nil {
					return // the context has ended: the inner store says so
				}
				if !yield(path) {
					return
				}
				slot.release()
			}
			_ = slot.acquire(ctx)
		}
		for path, err := range objectstore.DeleteAll(ctx, s.Inner(), drawn) {
			slot.release()
			if !yield(path, err) {
				return
			}
			if err := slot.acquire(ctx); err != nil {
				yield("", s.fail(objectstore.OpDeleteAll, "", err))
				return
			}
		}
	}
}

// bounded holds a slot while seq works and not while its consumer does.
func bounded[T any](ctx context.Context, s *store, op string, path objectstore.Path, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		slot := slot{slots: s.of(op)}
		defer slot.release()
		if err := slot.acquire(ctx); err != nil {
			yield(zero, s.fail(op, path, err))
			return
		}
		for item, err := range seq {
			slot.release()
			if !yield(item, err) {
				return
			}
			if err := slot.acquire(ctx); err != nil {
				yield(zero, s.fail(op, path, err))
				return
			}
		}
	}
}

// slot is the right to call, of one goroutine.
type slot struct {
	slots slots
	held  bool
}

func (l *slot) acquire(ctx context.Context) error {
	if l.held {
		return nil
	}
	err := l.slots.acquire(ctx)
	l.held = err == nil
	return err
}

func (l *slot) release() {
	if l.held {
		l.held = false
		l.slots.release()
	}
}
