package vfs

import (
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Simulated is a deterministic FS in memory, with a crash ([Simulated.Crash],
// [Simulated.Kill]) and a disk that fills up ([Simulated.SetCapacity]).
// Modification times count its writes: no two are alike, and none depends on a
// clock. Make one with [NewSimulated].
//
// Nothing is durable until Sync or Lock.SetContents: a crash may drop a change
// of a name, and the bytes of a file that has kept its name.
type Simulated struct {
	mu       sync.Mutex
	now      running
	disk     map[string]*inode // the names that survive every crash
	changes  []change          // of names, since disk; in order
	capacity int64             // negative: no limit
	used     int64
	writes   int64
	life     *life
}

// running is what programs see.
type running struct {
	names map[string]*inode
	dirs  map[string]bool
}

// life is shared by what the running programs hold open; a crash ends it.
type life struct{ dead bool }

type inode struct {
	data, synced []byte
	dirty        bool
	info         Info
	names, opens int // references; the space is free when both are 0
	locked       bool
}

// change is a name that came to mean another inode (nil: none), and for a
// rename also the name that it left.
type change struct {
	name, left string
	node       *inode
}

// NewSimulated returns an empty file system with the root directory only.
func NewSimulated() *Simulated {
	return &Simulated{
		now:      running{map[string]*inode{}, map[string]bool{string(filepath.Separator): true, ".": true}},
		disk:     map[string]*inode{},
		capacity: -1,
		life:     &life{},
	}
}

// SetCapacity limits the sum of all file sizes to n bytes, or lifts the limit
// when n is negative. Writes beyond it fail with syscall.ENOSPC.
func (s *Simulated) SetCapacity(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capacity = n
}

// Used returns the sum of all file sizes, of removed files still open too.
func (s *Simulated) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// ReadFile returns a copy of a file's bytes.
func (s *Simulated) ReadFile(name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := s.now.names[filepath.Clean(name)]
	if node == nil {
		return nil, fail("read", name, fs.ErrNotExist)
	}
	return slices.Clone(node.data), nil
}

// WriteFile replaces a file's bytes in place behind everyone's back: those who
// have it open see the new ones, and its modification time stays.
func (s *Simulated) WriteFile(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name = filepath.Clean(name)
	node := s.now.names[name]
	if node == nil {
		node = s.create(name)
	}
	s.used += int64(len(data) - len(node.data))
	node.data = slices.Clone(data)
	node.info.Size = int64(len(data))
}

// MkdirAll implements FS.
func (s *Simulated) MkdirAll(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir = filepath.Clean(dir); !s.now.dirs[dir]; dir = filepath.Dir(dir) {
		if s.now.names[dir] != nil {
			return fail("mkdir", dir, syscall.ENOTDIR)
		}
		s.now.dirs[dir] = true
	}
	return nil
}

// Open implements FS.
func (s *Simulated) Open(name string) (File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := s.now.names[filepath.Clean(name)]
	if node == nil {
		return nil, fail("open", name, fs.ErrNotExist)
	}
	node.opens++
	return &simFile{fs: s, life: s.life, node: node, name: name}, nil
}

// Create implements FS.
func (s *Simulated) Create(name string) (Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clean := filepath.Clean(name)
	if !s.now.dirs[filepath.Dir(clean)] {
		return nil, fail("create", name, fs.ErrNotExist)
	}
	if s.now.dirs[clean] {
		return nil, fail("create", name, syscall.EISDIR)
	}
	node := s.create(clean)
	node.opens++
	return &simWriter{simFile{fs: s, life: s.life, node: node, name: name}}, nil
}

// create makes name mean a new empty inode. s.mu is held.
func (s *Simulated) create(name string) *inode {
	s.unlink(name)
	node := &inode{dirty: true, names: 1}
	s.touch(node)
	s.now.names[name] = node
	s.changes = append(s.changes, change{name: name, node: node})
	return node
}

// touch gives node a modification time of its own. s.mu is held.
func (s *Simulated) touch(node *inode) {
	s.writes++
	node.info = Info{Size: int64(len(node.data)), ModTime: time.Unix(0, s.writes*int64(time.Microsecond))}
}

// unlink takes name from its inode. s.mu is held.
func (s *Simulated) unlink(name string) {
	if node := s.now.names[name]; node != nil {
		delete(s.now.names, name)
		node.names--
		s.reclaim(node)
	}
}

func (s *Simulated) reclaim(node *inode) {
	if node.names == 0 && node.opens == 0 {
		// The bytes stay with the inode: a crash may undo the removal.
		s.used -= int64(len(node.data))
	}
}

// Rename implements FS.
func (s *Simulated) Rename(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, name := filepath.Clean(from), filepath.Clean(to)
	node := s.now.names[left]
	if node == nil {
		return fail("rename", from, fs.ErrNotExist)
	}
	if left == name {
		return nil
	}
	s.unlink(name)
	delete(s.now.names, left)
	s.now.names[name] = node
	s.changes = append(s.changes, change{name: name, left: left, node: node})
	return nil
}

// Remove implements FS.
func (s *Simulated) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	clean := filepath.Clean(name)
	if s.now.names[clean] == nil {
		return fail("remove", name, fs.ErrNotExist)
	}
	s.unlink(clean)
	s.changes = append(s.changes, change{name: clean})
	return nil
}

// List implements FS; it yields in the order of the names.
func (s *Simulated) List(dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s.mu.Lock()
		clean := filepath.Clean(dir)
		if !s.now.dirs[clean] {
			s.mu.Unlock()
			yield(Entry{}, fail("list", dir, fs.ErrNotExist))
			return
		}
		found := map[string]Entry{}
		for name, node := range s.now.names {
			if filepath.Dir(name) == clean {
				found[filepath.Base(name)] = Entry{Name: filepath.Base(name), Regular: true, Info: node.info}
			}
		}
		for name := range s.now.dirs {
			if name != clean && filepath.Dir(name) == clean {
				found[filepath.Base(name)] = Entry{Name: filepath.Base(name)}
			}
		}
		s.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if !yield(found[name], nil) {
				return
			}
		}
	}
}

// Lock implements FS.
func (s *Simulated) Lock(name string) (Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clean := filepath.Clean(name)
	if !s.now.dirs[filepath.Dir(clean)] {
		return nil, fail("lock", name, fs.ErrNotExist)
	}
	node := s.now.names[clean]
	if node == nil {
		node = s.create(clean)
	}
	if node.locked {
		return nil, fail("lock", name, ErrLocked)
	}
	node.locked = true
	node.opens++
	return &simLock{simFile{fs: s, life: s.life, node: node, name: name}}, nil
}

func fail(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }
