package local

import (
	"slices"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// Leftovers are the paths whose files could not be removed. At the next start
// they would be local copies again, perhaps of objects that are deleted.
type Leftovers struct {
	mu    sync.Mutex
	paths map[objectstore.Path]bool
}

// set adds a path, or takes it out.
func (l *Leftovers) set(path objectstore.Path, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !left:
		delete(l.paths, path)
	case l.paths == nil:
		l.paths = map[objectstore.Path]bool{path: true}
	default:
		l.paths[path] = true
	}
}

// Count returns how many there are.
func (l *Leftovers) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.paths)
}

// All returns their paths.
func (l *Leftovers) All() []objectstore.Path {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]objectstore.Path, 0, len(l.paths))
	for path := range l.paths {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}
