package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/objectstore"
)

// Copy implements objectstore.Store. The copy shares the bytes in memory.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.move(ctx, objectstore.OpCopy, from, to, options, false)
}

// Rename implements objectstore.Store; it is atomic.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.move(ctx, objectstore.OpRename, from, to, options, true)
}

func (s *Store) move(ctx context.Context, op string, from, to objectstore.Path, options *objectstore.CopyOptions, remove bool) error {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := errors.Join(check(ctx, from), check(ctx, to)); err != nil {
		return s.fail(op, from, err)
	}
	if options.Mode == objectstore.Update {
		return s.fail(op, from, fmt.Errorf("%w: mode Update", objectstore.ErrUnsupported))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	source := s.objects[from]
	if source == nil {
		return s.fail(op, from, objectstore.ErrNotFound)
	}
	o := *source
	o.meta.Path = to
	if options.Attributes != nil {
		o.attributes = options.Attributes.Clone()
	}
	if _, err := s.install(&o, options.Mode, objectstore.UpdateVersion{}); err != nil {
		return s.fail(op, to, err)
	}
	if remove && from != to {
		delete(s.objects, from)
	}
	return nil
}
