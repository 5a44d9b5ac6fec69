package simtest

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/stardustdb/stardust/objectstore"
)

// event may have something happen that no goroutine asked for.
func (s *simulation) event() bool {
	n := s.random.IntN(1000)
	hit := func(rate int) bool {
		n -= rate
		return n < 0 && n >= -rate
	}
	l := s.life
	switch {
	case hit(s.config.crashes):
		s.crash(l)
	case hit(s.config.closes):
		if !l.started || l.closing {
			return false
		}
		s.startClose(l)
	case hit(s.config.cancels):
		return s.cancelOne()
	case hit(s.config.others):
		s.other()
	case hit(s.config.fullDisks):
		s.setFull(!s.full)
	case hit(s.config.rots):
		return s.rot()
	case hit(s.config.vanishes):
		return s.vanish()
	case hit(s.config.crashes):
		s.sched.log("the disk writes everything back")
		s.disk.Sync()
	case hit(s.config.crashes):
		s.arm(true)
	case hit(s.config.localFaults):
		s.arm(false)
	default:
		return false
	}
	return true
}

// arm has one of the next quiet operations fail, or the program end there.
func (s *simulation) arm(kills bool) {
	if s.fuse.left > 0 || s.gentle {
		return
	}
	s.fuse = fuse{1 + s.random.IntN(4), kills}
	s.result.Faults++
	s.sched.log(fmt.Sprintf("fuse: %+v", s.fuse))
}

// cancelOne cancels one of the operations in progress.
func (s *simulation) cancelOne() bool {
	s.mu.Lock()
	var o *op
	if len(s.active) > 0 {
		o = s.active[s.random.IntN(len(s.active))]
		if o.canceled {
			o = nil
		}
	}
	if o != nil {
		o.canceled = true
	}
	s.mu.Unlock()
	if o == nil {
		return false
	}
	s.sched.log(fmt.Sprintf("client %d op %d is canceled", o.client, o.id))
	o.cancel()
	return true
}

// other has someone else write or delete an object in the remote.
func (s *simulation) other() {
	path := s.drawPath(s.random)
	s.mu.Lock()
	there := s.object(path).remote
	s.mu.Unlock()
	if there && s.random.IntN(2) == 0 {
		s.sched.log(fmt.Sprintf("others delete %q", path))
		_ = s.store.Delete(context.Background(), path)
		s.removed(path)
		return
	}
	s.sched.log(fmt.Sprintf("others write %q", path))
	_, err := s.store.Put(context.Background(), path, objectstore.Bytes(s.content(path)), &objectstore.PutOptions{Attributes: attributes(path)})
	if err != nil {
		s.failf("others can't write: %v", err)
	}
	s.stored(nil, path)
}

// setFull fills the disk up, or makes space.
func (s *simulation) setFull(full bool) {
	if full == s.full {
		return
	}
	s.full = full
	if !full {
		s.sched.log("the disk has space again")
		s.disk.SetCapacity(-1)
		return
	}
	s.sched.log("the disk is full")
	s.disk.SetCapacity(s.disk.Used() + s.random.Int64N(500))
	if s.life != nil {
		s.life.localFaults++
	}
	s.result.Faults++
}

// pick returns a local copy, and the full name of its file. There may be none.
func (s *simulation) pick() (path objectstore.Path, name string) {
	_, names := s.directory()
	paths := sortedPaths(names)
	if len(paths) == 0 {
		return "", root
	}
	path = paths[s.random.IntN(len(paths))]
	return path, filepath.Join(root, names[path])
}

// rot damages a local copy on the disk.
func (s *simulation) rot() bool {
	path, name := s.pick()
	data, err := s.disk.ReadFile(name)
	if err != nil || len(data) == 0 {
		return false
	}
	at := s.random.IntN(len(data))
	data[at] ^= 0xff
	s.sched.log(fmt.Sprintf("byte %d of the local copy of %q rots", at, path))
	s.disk.WriteFile(name, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moment++
	ob := s.object(path)
	ob.rotten, ob.rotted = true, s.moment
	return true
}

// vanish removes the file of a local copy behind the mirror's back.
func (s *simulation) vanish() bool {
	path, name := s.pick()
	if s.disk.Remove(name) != nil {
		return false
	}
	s.sched.log(fmt.Sprintf("the local copy of %q vanishes", path))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.object(path).vanished = true
	s.life.vanishes++
	return true
}
