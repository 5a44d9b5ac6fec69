package dbstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// Copy implements objectstore.Store. No byte of the content moves.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return s.fail(objectstore.OpCopy, from, s.copy(ctx, from, to, options))
}

func (s *Store) copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := check(ctx, from, to); err != nil {
		return err
	}
	if options.Mode == objectstore.Update {
		return fmt.Errorf("%w: a copy over an expected version", objectstore.ErrUnsupported)
	}
	tree, err := s.view(ctx)
	if err != nil {
		return err
	}
	record, err := s.find(tree, from)
	if err != nil {
		return err
	}
	w := write{path: to, mode: options.Mode}
	if w.attributes, w.tags, err = attributes(tree, record); err != nil {
		return err
	}
	if options.Attributes != nil {
		w.attributes = *options.Attributes
	}
	if isFolder(from) && !isFolder(to) {
		// A directory has no payload; as a file it is an empty one.
		_, err = s.Put(ctx, to, objectstore.Bytes(nil), &objectstore.PutOptions{Mode: w.mode, Attributes: w.attributes, Tags: w.tags})
		return err
	}
	_, err = s.write(ctx, w, func(tree stardust.Tree, in string, o *stardust.PutOptions) (stardust.Record, error) {
		return tree.PutPublished(in, record.Digest, o)
	}, record.Size)
	return err
}

// Rename implements objectstore.Store: a Copy and a Delete.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	err := s.copy(ctx, from, to, options)
	if err == nil && from != to {
		if err = s.remove(ctx, from, "*"); errors.Is(err, objectstore.ErrNotFound) {
			err = nil // another has deleted it
		}
	}
	return s.fail(objectstore.OpRename, from, err)
}
