package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/stardustdb/stardust/objectstore"
)

// Delete implements objectstore.Store; it returns ErrNotFound when there is no
// object. It removes directories that become empty.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	return s.DeleteMatching(ctx, path, "*")
}

// DeleteMatching implements objectstore.ConditionalDeleter: no write comes between
// the comparison and the removal.
func (s *Store) DeleteMatching(ctx context.Context, path objectstore.Path, etag string) error {
	err := check(ctx, path)
	if err == nil {
		err = s.remove(path, etag)
	}
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	return nil
}

func (s *Store) remove(path objectstore.Path, match string) error {
	if err := s.removeLocked(path, match); err != nil {
		return err
	}
	return s.syncDirs([]string{s.removeEmptyParents(path)})
}

func (s *Store) removeLocked(path objectstore.Path, match string) error {
	// This comes before anything is written, locks included: the store may be
	// read-only with nothing there.
	if _, err := s.lstatObject(path); err != nil {
		return err
	}
	unlock, err := s.locks.lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	info, err := s.lstatObject(path)
	if err != nil {
		return err
	}
	if match != "*" && !objectstore.MatchETag(match, etag(info)) {
		return fmt.Errorf("%w: ETag is %q, not %q", objectstore.ErrPrecondition, etag(info), match)
	}
	if err := s.root.Remove(fileName(path)); err != nil {
		return err
	}
	s.removeDetails(path)
	return nil
}

// lstatObject returns ErrNotFound unless there is a file, or a link, at path:
// a directory is no object, and must not be removed as one.
func (s *Store) lstatObject(path objectstore.Path) (fs.FileInfo, error) {
	info, err := s.root.Lstat(fileName(path))
	if s.isMissing(err) || err == nil && info.IsDir() {
		return nil, objectstore.ErrNotFound
	}
	return info, err
}

// removeEmptyParents removes the directories of path that have become empty and
// returns the first one that stays.
func (s *Store) removeEmptyParents(path objectstore.Path) string {
	dir := parent(path)
	for dir != "." {
		// Removing a directory fails when it has entries, which is how we know.
		if err := s.root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = parent(objectstore.Path(dir))
	}
	return dir
}
