package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// errStale says that directories are watched under names that they have no more.
var errStale = errors.New("a directory moved")

// errGone says that there is nothing to watch any more.
var errGone = errors.New("the directory that is watched was moved or removed")

// tree is the directories that are watched. One goroutine uses it.
type tree struct {
	dir  string
	skip func(path string, directory bool) bool
	top  fs.FileInfo // of dir

	watcher     *fsnotify.Watcher // nil when nothing is watched
	marker      *marker           // nil where there is none
	out         chan change
	stop        chan struct{}
	pumps       sync.WaitGroup
	directories map[string]bool // those that are watched, "." for dir
}

// newTree watches a directory and all beneath it.
func newTree(dir string, skip func(string, bool) bool) (*tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: dir, skip: skip, out: make(chan change)}
	if t.top, err = os.Stat(dir); err != nil {
		return nil, err
	}
	if err := t.open(); err != nil {
		return nil, err
	}
	return t, nil
}

// open begins to watch.
func (t *tree) open() (err error) {
	if t.watcher, err = fsnotify.NewWatcher(); err != nil {
		return limit(t.dir, err)
	}
	t.stop, t.directories, t.marker = make(chan struct{}), make(map[string]bool), newMarker()
	w, stop := t.watcher, t.stop
	t.pumps.Go(func() { t.pump(w, stop) })
	t.pumps.Go(func() { t.pumpErrors(w, stop) })
	if err := t.add("."); err != nil {
		t.close()
		return err
	}
	return nil
}

// close ends to watch, and waits for what does.
func (t *tree) close() {
	if t.watcher == nil {
		return
	}
	close(t.stop)
	_ = t.watcher.Close() // nothing is lost
	t.pumps.Wait()
	t.watcher = nil
	if t.marker != nil {
		t.marker.close()
	}
}

func (t *tree) mark() bool {
	return t.marker != nil && t.watcher.Add(t.marker.path) == nil && t.marker.touch() == nil
}

func (t *tree) renew() error {
	t.close()
	now, err := os.Stat(t.dir)
	if err != nil || !os.SameFile(t.top, now) {
		return errors.Join(errGone, err)
	}
	return t.open()
}

func (t *tree) changes() <-chan change { return t.out }

// pump passes events on.
func (t *tree) pump(w *fsnotify.Watcher, stop <-chan struct{}) {
	for e := range w.Events {
		c, ok := t.translate(&e)
		if !ok {
			continue
		}
		select {
		case t.out <- c:
		case <-stop:
		}
	}
}

// pumpErrors passes errors on. They are not left to wait, since the watcher waits
// with them.
func (t *tree) pumpErrors(w *fsnotify.Watcher, stop <-chan struct{}) {
	var waiting *change
	for {
		var out chan<- change
		var next change
		if waiting != nil {
			out, next = t.out, *waiting
		}
		select {
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			// An overflow of the queue, or an error of one watch: in both cases
			// something may have gone unseen.
			waiting = &change{lost: true}
		case out <- next:
			waiting = nil
		case <-stop:
			for range w.Errors { // until it is closed
			}
			return
		}
	}
}

// translate makes a change of an event.
func (t *tree) translate(e *fsnotify.Event) (c change, ok bool) {
	if t.marker != nil && e.Name == t.marker.path {
		return change{mark: true}, true
	}
	rel, err := filepath.Rel(t.dir, e.Name)
	if err != nil {
		return c, false
	}
	c = change{path: filepath.ToSlash(rel)}
	switch {
	case e.Has(fsnotify.Create):
		c.kind = appeared
	case e.Has(fsnotify.Rename):
		c.kind = left
	case e.Has(fsnotify.Remove):
		c.kind = ended
	}
	return c, true
}

func (t *tree) note(c change) (matters bool, err error) {
	known := t.directories[c.path]
	if c.path == "." && (c.kind == left || c.kind == ended) {
		return false, errGone
	}
	switch {
	case c.kind == left && known:
		return false, errStale
	case c.kind == ended:
		delete(t.directories, c.path)
	}
	directory := known
	info, err := os.Lstat(t.path(c.path))
	if err == nil {
		directory = info.IsDir()
	}
	if t.skip != nil && t.skip(c.path, directory) {
		return false, nil
	}
	if c.kind == appeared && err == nil && directory {
		return true, t.add(c.path)
	}
	return c.path != "." || c.kind != changed, nil
}

func (t *tree) path(path string) string { return filepath.Join(t.dir, filepath.FromSlash(path)) }

// add watches a directory and all beneath it, each before it is read.
func (t *tree) add(path string) error {
	for stack := []string{path}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		err := t.watcher.Add(t.path(at))
		if errors.Is(err, fs.ErrNotExist) && at != "." {
			continue // its end is the next change
		}
		if errors.Is(err, fs.ErrPermission) && at != "." {
			continue // what is read of it will fail, and be reported, too
		}
		if err != nil {
			return limit(t.path(at), err)
		}
		t.directories[at] = true
		entries, err := os.ReadDir(t.path(at))
		if err != nil && at == "." {
			return err
		}
		for _, entry := range entries {
			below := entry.Name()
			if at != "." {
				below = at + "/" + below
			}
			if entry.IsDir() && (t.skip == nil || !t.skip(below, true)) {
				stack = append(stack, below)
			}
		}
	}
	return nil
}

// LimitError says that the system watches no more.
type LimitError struct {
	Path  string // what could not be watched
	Limit string // the setting that bounds it
	Err   error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: the system watches no more directories: raise its limit %s, or leave directories out", e.Path, e.Limit)
}

// Unwrap returns the system's error.
func (e *LimitError) Unwrap() error { return e.Err }
