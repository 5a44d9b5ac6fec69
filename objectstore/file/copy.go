package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// Copy implements objectstore.Store. The kernel copies the bytes, without
// reading them where the file system can share them.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	options, err := checkCopy(ctx, from, to, options)
	if err == nil {
		err = s.copy(from, to, options)
	}
	if err != nil {
		return s.fail(objectstore.OpCopy, from, err)
	}
	return nil
}

func checkCopy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) (*objectstore.CopyOptions, error) {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := check(ctx, from, to); err != nil {
		return nil, err
	}
	if options.Mode == objectstore.Update {
		return nil, fmt.Errorf("%w: mode Update", objectstore.ErrUnsupported)
	}
	return options, options.Mode.Validate(objectstore.UpdateVersion{})
}

func (s *Store) copy(from, to objectstore.Path, options *objectstore.CopyOptions) error {
	source, err := s.get(from, &objectstore.GetOptions{})
	if err != nil {
		return err
	}
	defer source.Body.Close()
	if err := s.checkCondition(to, options.Mode, objectstore.UpdateVersion{}); err != nil {
		return fmt.Errorf("%q: %w", to, err)
	}
	old, stale, err := s.details(source.Meta)
	if err != nil {
		return err
	}
	if stale {
		return s.copy(from, to, options) // of the version that has come instead
	}
	d := details{Attributes: source.Attributes, Tags: old.Tags}
	if options.Attributes != nil {
		d.Attributes = options.Attributes.Clone()
	}
	t, err := s.writeTemp(!d.empty(), func(file *os.File) error {
		n, err := io.Copy(file, source.Body.(objectstore.FileBody).File())
		if err == nil && n != source.Meta.Size {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.commit(t, to, condition{mode: options.Mode}, d); err != nil {
		return fmt.Errorf("%q: %w", to, err)
	}
	return nil
}

// Rename implements objectstore.Store. The object keeps its ETag and its time,
// unless its attributes are replaced: that is a Copy and a Delete.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	options, err := checkCopy(ctx, from, to, options)
	if err == nil {
		err = s.rename(from, to, options)
	}
	if err != nil {
		return s.fail(objectstore.OpRename, from, err)
	}
	return nil
}

func (s *Store) rename(from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if options.Attributes != nil && (from != to || options.Mode == objectstore.Overwrite) {
		if err := s.copy(from, to, options); err != nil || from == to {
			return err
		}
		return s.remove(from, "*")
	}
	if from == to {
		current, err := s.stat(from)
		if err == nil && current == nil {
			err = objectstore.ErrNotFound
		}
		if err != nil {
			return err
		}
		return options.Mode.Check(objectstore.UpdateVersion{}, current)
	}
	changed, err := s.renameLocked(from, to, options)
	if err != nil {
		return err
	}
	return s.syncDirs(append(changed, s.removeEmptyParents(from)))
}

func (s *Store) renameLocked(from, to objectstore.Path, options *objectstore.CopyOptions) ([]string, error) {
	unlock, err := s.locks.lock(from, to)
	if err != nil {
		return nil, err
	}
	defer unlock()
	source, err := s.stat(from)
	if err == nil && source == nil {
		err = objectstore.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	current, err := s.stat(to)
	if err != nil {
		return nil, err
	}
	if err := options.Mode.Check(objectstore.UpdateVersion{}, current); err != nil {
		return nil, fmt.Errorf("%q: %w", to, err)
	}
	d, _, err := s.details(*source)
	if err != nil {
		return nil, err
	}
	d.ETag = source.ETag
	if !d.empty() {
		if err := s.writeDetails(to, d, current); err != nil {
			return nil, err
		}
	}
	changed, err := s.install(fileName(from), to, options.Mode == objectstore.Create)
	if err == nil && options.Mode == objectstore.Create {
		err = s.root.Remove(fileName(from)) // install has linked it
	}
	if err != nil {
		if !d.empty() && current == nil {
			s.removeDetails(to)
		}
		return nil, errors.Join(fmt.Errorf("%q: %w", to, err))
	}
	if d.empty() {
		s.removeDetails(to)
	}
	s.removeDetails(from)
	return changed, nil
}
