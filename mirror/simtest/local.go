package simtest

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// root is the mirror's directory.
const root = "/cache"

// files returns the disk as one life sees it: operations wait at a gate and may
// fail, and after the life's end none has an effect.
func (s *simulation) files(l *life) vfs.FS {
	return vfs.NewFaulty(s.disk, func(op vfs.Op, name string) error {
		base := filepath.Base(name)
		var err error
		if s.isQuiet(l, op, base) {
			err = s.passQuietly(l, op, base)
		} else {
			_, err = s.sched.park(context.Background(), &gate{kind: gateLocal, label: "disk " + string(op) + " " + base, life: l})
			err = s.orDead(l, err)
		}
		if err != nil {
			return &fs.PathError{Op: string(op), Path: name, Err: err}
		}
		return nil
	})
}

// hasEnded reports whether a life is over.
func (s *simulation) hasEnded(l *life) bool {
	s.sched.mu.Lock()
	defer s.sched.mu.Unlock()
	return l.ended
}

// isQuiet reports whether an operation happens under a mutex of the mirror. It
// must not wait at a gate then: who waits for a mutex is not seen to wait, so
// that no choice would ever be made. There are two such mutexes: of an upload
// that several parts are in at once, and the one that makes the replacement of a
// local copy and the opening of one exclude each other.
func (s *simulation) isQuiet(l *life, op vfs.Op, base string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	isMeta := strings.HasSuffix(base, ".obj.meta")
	switch op {
	case vfs.OpMkdirAll:
		return true
	case vfs.OpRename:
		if object := strings.TrimSuffix(base, ".meta"); strings.HasSuffix(object, ".obj") {
			s.published = object
			if !isMeta {
				s.moment++
				ob := s.object(s.names[object])
				ob.installed, ob.vanished = s.moment, false
			}
			return true
		}
	case vfs.OpOpen:
		return l.built && (isMeta || strings.HasSuffix(base, ".obj"))
	case vfs.OpRead:
		return l.built && isMeta
	case vfs.OpRemove:
		if s.published != "" && s.clearsAfterPublish(base) {
			return true
		}
	}
	if op != vfs.OpCreate && op != vfs.OpRemove {
		return false
	}
	for name := range s.quiet {
		if strings.Contains(base, "."+name+".obj.") {
			return true
		}
	}
	return false
}

// clearsAfterPublish reports whether the removal of a file belongs to the
// replacement of a local copy that has just happened: after it failed, or to
// clear the copy's other name. s.mu is held.
func (s *simulation) clearsAfterPublish(base string) bool {
	object := strings.TrimSuffix(base, ".meta")
	same := s.names[object] != "" && s.names[object] == s.names[s.published]
	if s.publishFailed {
		return same || strings.HasPrefix(base, s.published)
	}
	return same && object != s.published
}

// nameFiles makes the local names of a path known. s.mu is held.
func (s *simulation) nameFiles(path objectstore.Path) {
	for _, name := range localNames(path) {
		s.names[name] = path
	}
}

// fuse makes one of the next quiet operations fail, or the program end there.
type fuse struct {
	left  int // operations; 0: not armed
	kills bool
}

// passQuietly is what happens at an operation without a gate.
func (s *simulation) passQuietly(l *life, op vfs.Op, base string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.fuse.left > 0 && op != vfs.OpMkdirAll {
		if s.fuse.left--; s.fuse.left == 0 {
			if s.fuse.kills {
				l.dead = true
			} else {
				err = syscall.EIO
				l.localFaults++
				if op == vfs.OpRemove {
					l.removeFaults++
				}
			}
		}
	}
	if l.dead || s.hasEnded(l) {
		err = errCrashed
	}
	if err != nil && op == vfs.OpRename {
		s.publishFailed = true
	}
	text := ""
	if err != nil {
		text = " -> " + err.Error()
	}
	s.sched.note(l, fmt.Sprintf("disk %s %s%s", op, base, text))
	return err
}

// orDead returns errCrashed when the program has ended at a quiet operation,
// and else err.
func (s *simulation) orDead(l *life, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && l.dead {
		return errCrashed
	}
	return err
}

// localFault draws the fault of an operation on the disk, or nil.
func (s *simulation) localFault(g *gate) error {
	if s.calm || s.random.IntN(1000) >= s.config.localFaults {
		return nil
	}
	s.result.Faults++
	s.life.localFaults++
	if strings.HasPrefix(g.label, "disk remove") {
		s.life.removeFaults++
	}
	if strings.HasPrefix(g.label, "disk create") && s.random.IntN(4) == 0 {
		return syscall.EMFILE
	}
	return syscall.EIO
}
