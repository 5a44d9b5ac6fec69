package simtest

import (
	"context"
	"fmt"
	"testing/synctest"
)

// finale checks that all comes clean: after a scan, after Close, and after
// another start.
func (s *simulation) finale() {
	if !s.scanNow() {
		return
	}
	s.checkScanned(false)
	if !s.closeNow() || !s.drain() {
		return
	}
	s.check(true)
	if s.failed() || !s.scanNow() {
		return
	}
	s.checkScanned(true)
	s.closeNow()
}

// closeNow closes the mirror and waits for it.
func (s *simulation) closeNow() bool {
	l := s.life
	s.startClose(l)
	for s.life == l {
		if !s.waitClosed(l) {
			return false
		}
	}
	return true
}

// waitClosed takes one step towards the end of a life.
func (s *simulation) waitClosed(l *life) bool {
	synctest.Wait()
	s.sched.settle()
	if s.failed() {
		return false
	}
	s.published, s.publishFailed = "", false
	if l.closed && l.exited == s.config.clients {
		s.closedLife(l)
		return !s.failed()
	}
	sleepers, others := s.sched.gates()
	switch {
	case len(others) > 0:
		s.release(s.sched.choose(s.random, s.config.uniform, others))
	case len(sleepers) > 0:
		s.advance(sleepers[0])
	default:
		s.stuck()
		return false
	}
	return true
}

// scanNow has a remote scan begin and end.
func (s *simulation) scanNow() bool {
	if !s.drain() {
		return false
	}
	l := s.life
	since := s.sched.time()
	if s.config.scan > 0 {
		for s.life.mirror.Handle().Stats().LastScan.Started.Compare(since) <= 0 {
			sleepers, _ := s.sched.gates()
			if len(sleepers) == 0 {
				s.stuck()
				return false
			}
			s.advance(sleepers[0])
			if !s.drain() {
				return false
			}
		}
		return true
	}
	var done bool
	l.running.Go(func() {
		_, err := l.mirror.Scan(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		done = true
		if err != nil && !s.hasEnded(l) {
			s.fail(fmt.Sprintf("a scan without faults failed: %v", err))
		}
	})
	if !s.drain() {
		return false
	}
	if !done {
		s.failf("stuck: a scan does not end")
	}
	return !s.failed()
}
