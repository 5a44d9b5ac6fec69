package dbstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// Put implements objectstore.Store, as one commit.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	err := errors.Join(check(ctx, path), options.Mode.Validate(options.UpdateVersion), body.Validate())
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	write := write{
		path: path, mode: options.Mode, update: options.UpdateVersion,
		attributes: options.Attributes, tags: options.Tags,
	}
	result, err := s.write(ctx, write, func(tree stardust.Tree, in string, o *stardust.PutOptions) (stardust.Record, error) {
		return s.lanes.Put(ctx, tree, in, &exact{r: body.Open(), left: body.Size()}, o, nil)
	}, body.Size())
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	return result, nil
}

// write is an object to be written.
type write struct {
	path       objectstore.Path
	mode       objectstore.PutMode
	update     objectstore.UpdateVersion
	attributes objectstore.Attributes
	tags       map[string]string
}

type putting func(tree stardust.Tree, in string, o *stardust.PutOptions) (stardust.Record, error)

// write makes an object of what put puts.
func (s *Store) write(ctx context.Context, w write, put putting, size int64) (*objectstore.PutResult, error) {
	tree, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	if isFolder(w.path) {
		return s.makeFolder(ctx, tree, w, size)
	}
	options := &stardust.PutOptions{Parents: true, New: w.mode == objectstore.Create}
	if w.mode == objectstore.Update {
		if options.ExpectedRevision, err = revisionOf(w.update); err != nil {
			return nil, err
		}
		current, err := s.find(tree, w.path)
		if errors.Is(err, objectstore.ErrNotFound) || err == nil && w.update.ETag != "" && etagOf(current) != w.update.ETag {
			return nil, fmt.Errorf("%w: the object is another or missing", objectstore.ErrPrecondition)
		}
		if err != nil {
			return nil, err
		}
	}
	if options.Attributes, err = document(w.attributes, w.tags); err != nil {
		return nil, err
	}
	record, err := put(tree, s.in(w.path), options)
	switch {
	case err == nil:
		return &objectstore.PutResult{ETag: etagOf(record), Version: versionOf(record)}, nil
	case w.mode == objectstore.Update && errors.Is(err, stardust.StatusNotFound):
		return nil, fmt.Errorf("%w: %w", objectstore.ErrPrecondition, err)
	case errors.Is(err, stardust.StatusInvalidArgument):
		return nil, s.nesting(tree, w.path, err)
	}
	return nil, err
}

// nesting explains a refused write: a directory may have the name, or a file be on
// the way.
func (s *Store) nesting(tree stardust.Tree, path objectstore.Path, err error) error {
	_, resolve := tree.Resolve(s.in(path))
	if resolve == nil || errors.Is(resolve, stardust.StatusInvalidArgument) {
		return fmt.Errorf("%w: %w", objectstore.ErrUnsupported, err)
	}
	return err
}

// exact reads a body of just the promised size.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case e.left < 0:
		return 0, fmt.Errorf("%w: the body is longer than its size", objectstore.ErrInvalidOption)
	case err == io.EOF && e.left > 0:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
