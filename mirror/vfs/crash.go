package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// A Fate is what a crash of the machine does to the bytes of a file that were
// not synced.
type Fate int

// The fates that file systems were seen to deal.
const (
	Kept   Fate = iota // written back in time
	Zeroed             // the right size, full of zeros
	Empty              // no bytes
	Cut                // the first half of the bytes
	Old                // what the last sync had
)

// Sync makes everything durable.
func (s *Simulated) Sync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disk = maps.Clone(s.now.names)
	s.changes = nil
	for _, node := range s.disk {
		settle(node)
	}
}

// settle makes a file's bytes durable.
func settle(node *inode) {
	node.synced = slices.Clone(node.data)
	node.dirty = false
}

// syncNode makes a file durable, with its names. s.mu is held.
func (s *Simulated) syncNode(node *inode) {
	settle(node)
	for name, n := range s.now.names {
		if n == node {
			s.disk[name] = node
		}
	}
	s.changes = slices.DeleteFunc(s.changes, func(c change) bool { return c.node == node && c.left == "" })
}

// Kill ends the programs: their files and locks are closed, and every further
// operation on those fails. Names and bytes stay.
func (s *Simulated) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

func (s *Simulated) kill() {
	s.life.dead = true
	s.life = &life{}
	s.used = 0
	for _, node := range s.now.names {
		node.opens, node.locked = 0, false
		s.used += int64(len(node.data))
	}
}

// Crash is a crash of the machine. Of the name changes since the last Sync
// random ones are lost, a suffix of them when the file system keeps order,
// else any; and the unsynced bytes of each file meet a random fate.
func (s *Simulated) Crash(random *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ordered := random.IntN(2) == 0
	prefix := random.IntN(len(s.changes) + 1)
	kept := func(i int) bool {
		if ordered {
			return i < prefix
		}
		return random.IntN(4) != 0
	}
	s.crash(kept, func(string) Fate { return Fate(random.IntN(int(Old) + 1)) })
}

// CrashWith is a crash of the machine in which all name changes survive, and
// fate decides about the unsynced bytes of each file.
func (s *Simulated) CrashWith(fate func(name string) Fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crash(func(int) bool { return true }, fate)
}

// crash is called with s.mu held. It asks about the changes in their order
// and about the files in the order of their names.
func (s *Simulated) crash(kept func(i int) bool, fate func(name string) Fate) {
	names := maps.Clone(s.disk)
	for i, c := range s.changes {
		if !kept(i) {
			continue
		}
		if c.left != "" && names[c.left] == c.node {
			delete(names, c.left)
		}
		if c.node == nil {
			delete(names, c.name)
		} else {
			names[c.name] = c.node
		}
	}
	// A lost rename can leave an inode with two names; each becomes a file of
	// its own, as none is ever written again.
	s.now.names = map[string]*inode{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old := names[name]
		node := &inode{data: slices.Clone(old.data), names: 1, info: old.info}
		if old.dirty {
			switch fate(name) {
			case Zeroed:
				clear(node.data)
			case Empty:
				node.data = nil
			case Cut:
				node.data = node.data[:len(node.data)/2]
			case Old:
				node.data = slices.Clone(old.synced)
			case Kept:
			}
			node.info.Size = int64(len(node.data))
		}
		settle(node)
		s.now.names[name] = node
	}
	s.kill()
	s.disk = maps.Clone(s.now.names)
	s.changes = nil
}
