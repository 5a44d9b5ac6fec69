package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"syscall"

	"github.com/stardustdb/stardust/objectstore"
)

// Put implements objectstore.Store. The object is on disk when it returns.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	result, err := s.put(ctx, path, body, options)
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	return result, nil
}

func (s *Store) put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if err := errors.Join(check(ctx, path), options.Mode.Validate(options.UpdateVersion), body.Validate()); err != nil {
		return nil, err
	}
	// If the refusal is certain already, the body need not be read.
	if err := s.checkCondition(path, options.Mode, options.UpdateVersion); err != nil {
		return nil, err
	}
	d := details{Attributes: options.Attributes.Clone(), Tags: maps.Clone(options.Tags)}
	t, err := s.writeTemp(!d.empty(), s.writeBody(ctx, body))
	if err != nil {
		return nil, err
	}
	return s.commit(t, path, condition{mode: options.Mode, update: options.UpdateVersion}, d)
}

func (s *Store) checkCondition(path objectstore.Path, mode objectstore.PutMode, update objectstore.UpdateVersion) error {
	if mode == objectstore.Overwrite {
		return nil
	}
	current, err := s.stat(path)
	if err != nil {
		return err
	}
	return mode.Check(update, current)
}

// condition is what must hold at the moment of a commit.
type condition struct {
	mode   objectstore.PutMode
	update objectstore.UpdateVersion
	upload string // the multipart upload that the commit ends, if any
}

// commit makes t the object at path when the condition holds, or removes it.
func (s *Store) commit(t *temp, path objectstore.Path, c condition, d details) (*objectstore.PutResult, error) {
	defer s.removeTemp(t)
	d.ETag = t.etag
	changed, err := s.commitLocked(t, path, c, d)
	if err != nil {
		return nil, err
	}
	if err := s.syncDirs(changed); err != nil {
		return nil, err
	}
	if c.upload != "" {
		_ = s.root.RemoveAll(tempDir + "/" + c.upload) // what stays costs space only
	}
	return &objectstore.PutResult{ETag: t.etag}, nil
}

// commitLocked returns the directories that it changed.
func (s *Store) commitLocked(t *temp, path objectstore.Path, c condition, d details) ([]string, error) {
	locked := []objectstore.Path{path}
	if c.upload != "" {
		locked = append(locked, objectstore.Path(c.upload))
	}
	unlock, err := s.locks.lock(locked...)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c.upload != "" {
		if _, err := s.readUpload(path, c.upload); err != nil {
			return nil, err // another has completed or aborted it
		}
	}
	current, err := s.stat(path)
	if err != nil {
		return nil, err
	}
	if err := c.mode.Check(c.update, current); err != nil {
		return nil, err
	}
	// The details come first and stand beside those of the version that is
	// still there, so that readers find the right ones at every moment.
	if !d.empty() {
		if err := s.writeDetails(path, d, current); err != nil {
			return nil, err
		}
	}
	changed, err := s.install(t.name, path, c.mode == objectstore.Create)
	if err != nil {
		if !d.empty() && current == nil {
			s.removeDetails(path)
		}
		return nil, err
	}
	if d.empty() {
		s.removeDetails(path)
	}
	if c.upload != "" {
		// A crash before this leaves an upload that can be completed again or
		// aborted, and an object that is whole either way.
		if _, err := s.takeUpload(c.upload); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// maxInstalls bounds how often install makes directories that deletes remove.
const maxInstalls = 100

// install moves the file name to path, making its directories. With create it
// fails with ErrAlreadyExists when there is something at path, also when another
// program has just put it there.
func (s *Store) install(name string, path objectstore.Path, create bool) (changed []string, err error) {
	move := s.root.Rename
	if create {
		move = s.root.Link
	}
	changed = []string{parent(path)}
	for attempt := 1; ; attempt++ {
		err := move(name, fileName(path))
		switch {
		case err == nil:
			return changed, nil
		case attempt == maxInstalls:
			return nil, err
		case errors.Is(err, fs.ErrNotExist):
			// No directory yet, or a delete has just removed an empty one.
			made, err := s.makeParents(path)
			if err != nil {
				return nil, err
			}
			changed = append(changed, made...)
		case errors.Is(err, syscall.ENOTDIR):
			return nil, s.nestingError(path)
		case errors.Is(err, fs.ErrExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTEMPTY):
			info, e := s.root.Lstat(fileName(path))
			switch {
			case errors.Is(e, fs.ErrNotExist):
				continue
			case e != nil:
				return nil, e
			case !info.IsDir():
				return nil, objectstore.ErrAlreadyExists
			}
			// An empty directory is not in the way.
			if e := s.root.Remove(fileName(path)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				return nil, fmt.Errorf("%w: %q is a directory of other objects", objectstore.ErrUnsupported, path)
			}
		case create && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)):
			return nil, fmt.Errorf("%w: create-only writes need a file system with hard links: %w", objectstore.ErrUnsupported, err)
		default:
			return nil, err
		}
	}
}

// makeParents makes the directories of path and returns those that have new
// entries.
func (s *Store) makeParents(path objectstore.Path) (changed []string, err error) {
	dir := parent(path)
	for end := 0; end < len(dir); end++ {
		next := strings.IndexByte(dir[end:], '/')
		if next < 0 {
			end = len(dir)
		} else {
			end += next
		}
		switch err := s.root.Mkdir(dir[:end], 0o777); {
		case err == nil:
			changed = append(changed, parent(objectstore.Path(dir[:end])))
		case errors.Is(err, fs.ErrExist):
		case errors.Is(err, fs.ErrNotExist):
			return changed, nil // removed meanwhile: the caller tries again
		case errors.Is(err, syscall.ENOTDIR):
			return nil, s.nestingError(path)
		default:
			return nil, err
		}
	}
	return changed, nil
}

func (s *Store) nestingError(path objectstore.Path) error {
	return fmt.Errorf("%w: a parent of %q is an object and cannot be a directory", objectstore.ErrUnsupported, path)
}

// syncDirs makes changes of the directories durable.
func (s *Store) syncDirs(dirs []string) error {
	if s.options.NoSync {
		return nil
	}
	for _, dir := range dirs {
		file, err := s.root.Open(dir)
		if s.isMissing(err) {
			continue // an empty directory that a delete has removed
		}
		if err != nil {
			return err
		}
		err = file.Sync()
		_ = file.Close()
		// Some file systems cannot sync directories, or need not.
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
			return err
		}
	}
	return nil
}

// parent returns the directory of a path, "." for the root.
func parent(path objectstore.Path) string {
	if dir := path.Parent(); dir != "" {
		return dir
	}
	return "."
}
