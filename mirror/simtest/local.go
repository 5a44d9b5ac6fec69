package simtest

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// root is the mirror's directory.
const root = "/cache"

// files returns the disk as one life sees it: every operation waits at a gate
// and may fail, and after the life's end none has an effect.
func (s *simulation) files(l *life) vfs.FS {
	return vfs.NewFaulty(s.disk, func(op vfs.Op, name string) error {
		base := filepath.Base(name)
		if op == vfs.OpMkdirAll || s.isQuiet(op, base) {
			if s.hasEnded(l) {
				return &fs.PathError{Op: string(op), Path: name, Err: errCrashed}
			}
			return nil
		}
		_, err := s.sched.park(context.Background(), &gate{kind: gateLocal, label: "disk " + string(op) + " " + base, life: l})
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

// isQuiet reports whether an operation happens under the mutex of an upload
// that several parts are in at once. It must not wait at a gate then: who waits
// for a mutex is not seen to wait, so that no choice would ever be made.
func (s *simulation) isQuiet(op vfs.Op, base string) bool {
	if op != vfs.OpCreate && op != vfs.OpRemove {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.quiet {
		if strings.Contains(base, "."+name+".obj.") {
			return true
		}
	}
	return false
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
	if strings.HasPrefix(g.label, "disk open") && !strings.HasSuffix(g.label, ".meta") && s.random.IntN(4) == 0 {
		return syscall.EMFILE
	}
	return syscall.EIO
}
