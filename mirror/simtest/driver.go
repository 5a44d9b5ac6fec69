package simtest

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	// maxSteps ends a run that does not come to its end.
	maxSteps = 100_000
	// maxAdvances is how often the clock may move before all must be quiet.
	maxAdvances = 3000
)

// Run simulates one seed. t is only needed for testing/synctest: a property
// that does not hold is in the result, and t does not fail.
//
// It runs goroutines on one processor meanwhile, so that those that a step
// wakes go on in the order in which they were woken. With the race detector
// that order is random, and a seed may not fail again; a goroutine that the
// operating system stops for 10 ms may be overtaken, too.
func Run(t *testing.T, options Options) Result {
	if options.Hang <= 0 {
		options.Hang = time.Minute
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	watchdog := time.AfterFunc(options.Hang, func() {
		fmt.Fprintf(os.Stderr, "seed %d hangs: a goroutine waits for a mutex that one at a gate holds, or does not end\n", options.Seed)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
		os.Exit(2)
	})
	defer watchdog.Stop()
	var s *simulation
	synctest.Test(t, func(*testing.T) {
		s = newSimulation(options)
		if !s.config.big {
			// A collection would change the order of goroutines.
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
		}
		s.run()
	})
	s.result.Failure = s.failure
	s.result.Trace = s.sched.trace
	return s.result
}

// run is the driver: the only goroutine that acts while others wait.
func (s *simulation) run() {
	operations := s.options.Operations
	if operations <= 0 {
		operations = s.config.rounds * s.config.operations
	}
	for round := 0; round < s.config.rounds && operations > 0 && !s.failed(); round++ {
		s.left = min(operations, s.config.operations)
		operations -= s.left
		s.work()
		s.rest()
	}
	if !s.failed() {
		s.finale()
	}
	if l := s.life; l != nil {
		s.sched.endLife(l)
		s.disk.Kill()
		s.bury(l)
	}
	s.sched.settle()
	if s.failed() {
		s.sched.log("FAILED: " + s.failure)
	}
}

// wait waits until every goroutine is at its gate and does what is due then. It
// returns false when the run has failed.
func (s *simulation) wait() bool {
	for {
		synctest.Wait()
		s.sched.settle()
		s.result.Steps++
		if s.result.Steps > maxSteps {
			s.failf("no end after %d steps", maxSteps)
		}
		if s.failed() {
			return false
		}
		l := s.life
		s.published, s.publishFailed = "", false
		switch {
		case l == nil:
			s.startLife()
		case l.dead:
			s.fuse = fuse{}
			s.crash(l)
		case l.built && l.buildErr != nil:
			s.judgeOpen(l)
			l.running.Wait()
			s.mu.Lock()
			s.life = nil
			s.mu.Unlock()
			s.forgetLife()
			s.gentle = true
			s.setFull(false)
		case l.built && !l.started:
			s.startClients(l)
		case l.closed && l.exited == s.config.clients:
			s.closedLife(l)
		default:
			return true
		}
	}
}

// work has the clients do what is left, among faults and events.
func (s *simulation) work() {
	s.calm = false
	for s.wait() && (s.left > 0 || s.busy()) {
		if s.event() {
			continue
		}
		sleepers, others := s.sched.gates()
		others = s.useful(others)
		switch {
		case len(sleepers) > 0 && (len(others) == 0 || s.random.IntN(25) == 0):
			s.advance(sleepers[0])
		case len(others) > 0:
			s.release(s.sched.choose(s.random, s.config.uniform, others))
		default:
			s.stuck()
		}
	}
}

// busy reports whether clients are in an operation, or the mirror is down.
func (s *simulation) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.active) > 0 || s.life == nil || s.life.closing || !s.life.started
}

// useful leaves out the clients that have nothing to do.
func (s *simulation) useful(gates []*gate) []*gate {
	if s.left > 0 || s.life.closing {
		return gates
	}
	var rest []*gate
	for _, g := range gates {
		if g.kind != gateClient {
			rest = append(rest, g)
		}
	}
	return rest
}

func (s *simulation) advance(g *gate) {
	s.sched.log("clock " + g.wake.Format("15:04:05.000"))
	s.sched.advance(g)
}

// stuck reports that nothing can go on any more.
func (s *simulation) stuck() {
	detail := ""
	if l := s.life; l.mirror != nil {
		detail = fmt.Sprintf(": %+v", l.mirror.Handle().Stats())
	}
	s.failf("stuck: nothing waits for anything, but %d operations are in progress%s", len(s.active), detail)
}

// release lets a goroutine pass its gate, with a fault or not.
func (s *simulation) release(g *gate) {
	v := verdict{cut: -1}
	text := g.label
	switch g.kind {
	case gateClient:
		if s.left > 0 && (!s.life.closing || s.random.IntN(3) == 0) {
			s.left--
			v.op = s.draw(int(g.label[len(g.label)-1] - '0'))
			text = v.op.String()
		} else {
			text += " leaves"
		}
	case gateLocal:
		if !s.gentle {
			v.err = s.localFault(g)
		}
	case gateCall, gateAnswer, gateBody, gateSend:
		v = s.remoteFault(g)
	case gateHold, gateSleep:
	}
	switch {
	case v.err != nil:
		text += " -> " + v.err.Error()
	case v.lie != 0:
		text += fmt.Sprintf(" -> length wrong by %d", v.lie)
	case v.cut >= 0:
		text += fmt.Sprintf(" -> cut after %d bytes", v.cut)
	}
	s.sched.log(text)
	s.sched.pass(g, v)
}

// remoteFault draws the fault of a step of a remote call.
func (s *simulation) remoteFault(g *gate) verdict {
	v := verdict{cut: -1}
	if !s.calm && s.config.flaky && g.kind == gateCall && g.download && s.random.IntN(2) == 0 && !strings.Contains(g.label, string(bigPath)) {
		s.result.Faults++
		v.cut = s.random.Int64N(60)
		return v
	}
	if s.calm || s.random.IntN(1000) >= s.config.remoteFaults {
		return v
	}
	s.result.Faults++
	switch {
	case g.kind == gateCall && g.download && s.random.IntN(3) > 0:
		if s.random.IntN(3) > 0 {
			v.cut = s.random.Int64N(700)
			if strings.Contains(g.label, string(bigPath)) {
				v.cut *= bigSize / 700
			}
			break
		}
		v.lie = []int64{-1, 1, 3, -7}[s.random.IntN(4)]
		s.life.lies++
	case g.kind == gateAnswer:
		v.err = injected(s.random.IntN(injectedForms), "the answer was lost")
	default:
		v.err = injected(s.random.IntN(injectedForms), "the connection broke")
	}
	return v
}
