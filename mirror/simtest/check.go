package simtest

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// checkRestart checks what Open found in the directory. It runs before
// anything else can change it.
func (s *simulation) checkRestart(l *life) {
	local := entries(l.mirror)
	trusted := s.before != nil && s.before.exact && l.localFaults == 0
	// An Open that can not read a file leaves the copy out.
	if want := s.before; want != nil && l.localFaults == 0 {
		for path, meta := range want.local {
			if s.vanished(path) {
				continue
			}
			got, ok := local[path]
			if !ok || got.Size != meta.Size || want.exact && got != meta {
				s.failf("restart: the local copy of %q was %+v, is %+v (%v)", path, meta, got, ok)
			}
		}
		for path := range local {
			if _, ok := want.local[path]; want.exact && !ok && !s.vanished(path) {
				s.failf("restart: %q was not local, and is", path)
			}
		}
	}
	s.before = nil
	files, _ := s.directory()
	for path := range local {
		name, _ := localName(files, path)
		data, _ := s.disk.ReadFile(filepath.Join(root, name))
		s.mu.Lock()
		ob := s.object(path)
		// A crash may bring back a copy whose object is gone.
		ob.deleted = ob.deleted || !ob.remote
		if isMutable(path) {
			s.checkMutable(path, name, trusted)
			s.mu.Unlock()
			continue
		}
		ob.rotten = !bytes.Equal(data, s.contentLocked(path))
		s.mu.Unlock()
	}
}

// vanished reports whether somebody else has removed the file of a path's local
// copy.
func (s *simulation) vanished(path objectstore.Path) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.objects[path]
	return ob != nil && ob.vanished
}

// contentLocked is content with s.mu held.
func (s *simulation) contentLocked(path objectstore.Path) []byte {
	data, ok := s.contents[path]
	if !ok {
		data = content(path)
		s.contents[path] = data
	}
	return data
}

// check checks everything that must hold when nothing is in progress. fresh:
// the mirror has just started.
func (s *simulation) check(fresh bool) {
	l := s.life
	h := l.mirror.Handle()
	stats := h.Stats()
	if stats.BusyPaths != 0 || stats.QueuedDownloads != 0 || stats.PendingEvictions != 0 || len(stats.Downloads) != 0 {
		s.failf("stuck: %+v", stats)
	}
	// An upload whose Complete failed may have joined its parts in a second file.
	if least := int(stats.Objects) + stats.Uploads; stats.ClaimedNames < least || stats.ClaimedNames > least+stats.Uploads {
		s.failf("leak: %d local names are in use, for %d local copies and %d uploads", stats.ClaimedNames, stats.Objects, stats.Uploads)
	}
	if stats.OpenFiles > max(s.config.maxIdle, 0) {
		s.failf("leak: %d files are open, %d may be idle", stats.OpenFiles, max(s.config.maxIdle, 0))
	}
	local := entries(l.mirror)
	s.checkSpace()
	s.checkFiles(l, local, fresh)
	watched := l.policy.watched()
	if !slices.Equal(sortedPaths(watched), sortedPaths(local)) {
		s.failf("watcher: it was told of %v, local is %v", sortedPaths(watched), sortedPaths(local))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range sortedPaths(s.objects) {
		ob := s.objects[path]
		_, is := local[path]
		if claim := s.claim(ob); claim == present && !is || claim == absent && is {
			s.fail(fmt.Sprintf("order: the last operation on %q left it %v, but it is not so", path, claim))
		}
		if s.mustBePrefetched(ob) && !is {
			s.fail(fmt.Sprintf("prefetch: %q was prefetched, but is not local", path))
		}
		if len(ob.calls) > 0 {
			s.fail(fmt.Sprintf("leak: %v of %q are still in progress", ob.calls, path))
		}
		ob.line, ob.looseEnded, ob.group = nil, 0, false
		ob.deleted = !ob.remote && is
	}
}

// checkFiles checks that the directory holds what the map says, and the right
// bytes.
func (s *simulation) checkFiles(l *life, local map[objectstore.Path]objectstore.ObjectMeta, fresh bool) {
	files, _ := s.directory()
	extra := maps.Clone(files)
	delete(extra, "LOCK")
	delete(extra, "INDEX")
	delete(extra, "INDEX.tmp") // a crash leaves it to the next save
	for _, path := range sortedPaths(local) {
		name, ok := localName(files, path)
		if !ok && s.vanished(path) {
			continue // nobody has read it yet
		}
		_, both := files[name+".meta"]
		if !ok || !both || files[name].size != local[path].Size {
			s.failf("disk: the local copy of %q has the file %q (%v, %d bytes of %d), and .meta: %v", path, name, ok, files[name].size, local[path].Size, both)
			continue
		}
		delete(extra, name)
		delete(extra, name+".meta")
		s.mu.Lock()
		if isMutable(path) {
			s.checkMutable(path, name, true)
			s.mu.Unlock()
			continue
		}
		data, _ := s.disk.ReadFile(filepath.Join(root, name))
		ob := s.object(path)
		right := bytes.Equal(data, s.contentLocked(path))
		if !right && (!ob.rotten || len(data) != len(s.contentLocked(path))) {
			s.fail(fmt.Sprintf("bytes: the local copy of %q is not the object", path))
		}
		ob.rotten = !right
		s.mu.Unlock()
	}
	if l.removeFaults > 0 && !fresh {
		return
	}
	// Open leaves alone what it could not read: two files each.
	unread := 2 * l.mirror.Handle().Stats().Startup.Unreadable
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !isTemporary(name) && unread > 0 {
			unread--
			continue
		}
		if isTemporary(name) && l.uploads > 0 || !fresh && l.vanishes > 0 && strings.HasSuffix(name, ".meta") {
			continue
		}
		s.failf("leak: %q is left", name)
	}
}

// checkScanned checks that nothing is local that the remote has not. strict:
// nothing could keep a file from being removed.
func (s *simulation) checkScanned(strict bool) {
	l := s.life
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range entries(l.mirror) {
		if !s.object(path).remote {
			s.fail(fmt.Sprintf("cleanup: %q is local after a scan, and not in the remote", path))
		}
	}
	files, _ := s.directory()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		// A file whose partner is gone may have to wait for the next start.
		alone := l.removeFaults > 0 || l.vanishes > 0
		if file.path != "" && !s.object(file.path).remote && (strict || !alone) {
			s.fail(fmt.Sprintf("cleanup: %q of %q is left after a scan", name, file.path))
		}
		if strict && isTemporary(name) {
			s.fail(fmt.Sprintf("leak: %q is left", name))
		}
	}
}

// checkClosed checks the directory of a closed mirror.
func (s *simulation) checkClosed(l *life) {
	files, _ := s.directory()
	for name := range files {
		if isTemporary(name) && l.removeFaults == 0 {
			s.failf("leak: %q is left by Close", name)
		}
	}
	s.checkSpace()
}

// checkSpace checks that no file that was removed is still open, and so takes
// space.
func (s *simulation) checkSpace() {
	var sum int64
	files, _ := s.directory()
	for _, file := range files {
		sum += file.size
	}
	s.mu.Lock()
	for _, ob := range s.objects {
		if ob.vanished {
			sum = s.disk.Used() // it may be open until someone notices
		}
	}
	s.mu.Unlock()
	if used := s.disk.Used(); used != sum {
		s.failf("leak: %d bytes are in use, the files have %d", used, sum)
	}
}
