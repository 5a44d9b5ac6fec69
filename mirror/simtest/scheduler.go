package simtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// errCrashed is what everything answers after a crash. It is not transient.
var errCrashed = errors.New("the machine has crashed")

// gateKind says what a goroutine waits to do.
type gateKind int

const (
	gateClient gateKind = iota // begin the next operation
	gateHold                   // go on inside an operation
	gateLocal                  // an operation on the disk
	gateCall                   // a call to the remote takes effect
	gateAnswer                 // its answer arrives
	gateBody                   // a piece of a body arrives
	gateSend                   // a piece of a body is sent
	gateSleep                  // a time comes
)

// A gate is a place where a goroutine waits until the scheduler lets it pass.
type gate struct {
	kind     gateKind
	label    string // says who waits for what; the same in every run
	life     *life
	writes   bool      // of gateCall: it changes the remote
	download bool      // of gateCall: a download of the mirror
	wake     time.Time // of gateSleep
	arrival  uint64
	passed   chan verdict
}

// verdict is what happens to a goroutine that passes its gate.
type verdict struct {
	err error // fail, before the effect or, of gateAnswer, after it
	// Of a Get: the body breaks after cut bytes, unless negative; the length
	// that is announced is wrong by lie.
	cut, lie int64
	op       *op // of gateClient: what to do; nil: no more
}

// scheduler lets one goroutine go on at a time. What the others do before each
// is at its gate must not depend on their order.
type scheduler struct {
	mu       sync.Mutex
	waiting  []*gate
	arrivals uint64
	now      time.Time
	burst    []string // what happened since the last choice
	trace    []string
	salt     uint64 // of the priorities
}

// park waits at a gate. It returns the error of ctx when that ends first, and
// errCrashed when the life does.
func (s *scheduler) park(ctx context.Context, g *gate) (verdict, error) {
	g.passed = make(chan verdict, 1)
	s.mu.Lock()
	if g.life.ended {
		s.mu.Unlock()
		return verdict{}, errCrashed
	}
	s.arrivals++
	g.arrival = s.arrivals
	s.waiting = append(s.waiting, g)
	s.mu.Unlock()
	select {
	case v := <-g.passed:
		return v, v.err
	case <-ctx.Done():
		s.drop(g)
		return verdict{}, ctx.Err()
	case <-g.life.end:
		return verdict{}, errCrashed
	}
}

func (s *scheduler) drop(g *gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, g); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// pass lets a goroutine go on.
func (s *scheduler) pass(g *gate, v verdict) {
	s.drop(g)
	g.passed <- v
}

// gates returns those that wait, in an order that does not depend on that of
// arrivals in one burst, except for equal labels: the sleepers by their time,
// then the others.
func (s *scheduler) gates() (sleepers, others []*gate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.waiting {
		if g.kind == gateSleep {
			sleepers = append(sleepers, g)
		} else {
			others = append(others, g)
		}
	}
	order := func(a, b *gate) int {
		if c := a.wake.Compare(b.wake); c != 0 {
			return c
		}
		if c := strings.Compare(a.label, b.label); c != 0 {
			return c
		}
		if a.arrival < b.arrival {
			return -1
		}
		return 1
	}
	slices.SortFunc(sleepers, order)
	slices.SortFunc(others, order)
	return sleepers, others
}

// choose picks one of the gates: any, or the one whose label has the highest
// priority, so that some goroutines starve for a while.
func (s *scheduler) choose(random *rand.Rand, uniform int, gates []*gate) *gate {
	if random.IntN(40) == 0 {
		s.salt = random.Uint64()
	}
	if random.IntN(100) < uniform {
		return gates[random.IntN(len(gates))]
	}
	best, highest := gates[0], uint64(0)
	for _, g := range gates {
		if p := hash(s.salt, g.label); p > highest {
			best, highest = g, p
		}
	}
	return best
}

// hash is FNV-1a, the same in every process.
func hash(salt uint64, text string) uint64 {
	h := salt ^ 14695981039346656037
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h ^ h>>29
}

// note records something that a goroutine saw.
func (s *scheduler) note(l *life, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l == nil || !l.ended {
		s.burst = append(s.burst, text)
	}
}

// settle moves what was noted into the trace. The driver calls it when all
// goroutines are at their gates.
func (s *scheduler) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.burst)
	s.trace = append(s.trace, s.burst...)
	s.burst = s.burst[:0]
}

// log records what the driver does.
func (s *scheduler) log(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, text)
}

// endLife ends a life: all that wait for it go on with errCrashed.
func (s *scheduler) endLife(l *life) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.ended = true
	s.waiting = slices.DeleteFunc(s.waiting, func(g *gate) bool { return g.life == l })
	close(l.end)
}

// advance moves the clock to a sleeper's time and wakes it.
func (s *scheduler) advance(g *gate) {
	s.mu.Lock()
	if g.wake.After(s.now) {
		s.now = g.wake
	}
	s.mu.Unlock()
	s.pass(g, verdict{})
}

// time returns the simulated time.
func (s *scheduler) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// clock is the mirror.Clock of one life.
type clock struct {
	s *scheduler
	l *life
}

// Now implements mirror.Clock.
func (c clock) Now() time.Time { return c.s.time() }

// Sleep implements mirror.Clock.
func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	_, err := c.s.park(ctx, &gate{kind: gateSleep, label: "sleep", life: c.l, wake: c.s.time().Add(d)})
	return err
}
