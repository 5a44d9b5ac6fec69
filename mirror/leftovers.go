package mirror

import (
	"slices"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// leftovers are the paths whose files could not be removed. At the next start
// they would be local copies again, perhaps of objects that are deleted.
type leftovers struct {
	mu    sync.Mutex
	paths map[objectstore.Path]bool
}

// set adds a path, or takes it out.
func (l *leftovers) set(path objectstore.Path, left bool) {
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

func (l *leftovers) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.paths)
}

func (l *leftovers) all() []objectstore.Path {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]objectstore.Path, 0, len(l.paths))
	for path := range l.paths {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// sweep tries again to remove the files that could not be removed, unless their
// paths have local copies again. It waits for the attempts.
func (m *Mirror) sweep() {
	var wg sync.WaitGroup
	for _, path := range m.local.leftovers.all() {
		wg.Add(1)
		m.evictions.enqueue(path, &eviction{guarded: true, done: func(bool, error) { wg.Done() }})
	}
	wg.Wait()
}
