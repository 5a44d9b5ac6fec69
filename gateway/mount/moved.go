//go:build linux

package mount

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/stardustdb/stardust"
)

// The database has no time of a directory but its attribute. While it is mounted,
// the time at which entries came, went or were renamed goes first; it is kept as
// the attribute when the mount ends, not with each change, which would then be a
// change of two nodes.

// touch says that entries of a directory changed.
func (v *view) touch(directory int64) {
	now := v.now()
	v.changes.Add(1)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.moved[directory] = now
}

// untouch says that a directory got another time, or is gone.
func (s *shared) untouch(directory int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.moved, directory)
}

// movedAt returns when entries of a directory changed, or else what is kept.
func (v *view) movedAt(directory int64, kept time.Time) time.Time {
	if !v.live {
		return kept
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if t, ok := v.moved[directory]; ok {
		return t
	}
	return kept
}

// keepMoved makes the times of directories attributes. The root has none.
func (s *shared) keepMoved() error {
	s.mu.Lock()
	all := maps.Clone(s.moved)
	s.mu.Unlock()
	v := &view{shared: s}
	for directory, t := range all {
		if directory != 0 {
			err := v.apply(directory, &change{mtime: &t})
			if err != nil && !errors.Is(err, stardust.StatusNotFound) {
				return fmt.Errorf("the time of directory %d: %w", directory, err)
			}
			s.mu.Lock()
			if s.moved[directory].Equal(t) {
				delete(s.moved, directory)
			}
			s.mu.Unlock()
		}
	}
	return nil
}
