package patience

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// freeBytes is how much of a body needs no lane.
	freeBytes = 256 << 10
	// most is how many lanes there are. Each may come to hold 4 MiB of the memory
	// budget.
	most = 12
	// patience bounds how long anything waits.
	patience = 30 * time.Second
	// defaultGrace is how long a body may be as slow as it likes, and slowest the rate,
	// in bytes a second, below which it then gives way to others.
	defaultGrace = 2 * time.Second
	slowest      = 64 << 10
)

// What can become of a body.
var (
	ErrBusy = errors.New("too many large uploads are under way: try again in a moment")
	ErrSlow = errors.New("the body came too slowly while others waited: try again")
)

// Lanes are the places of large uploads. The zero value is ready, and may be used
// concurrently.
type Lanes struct {
	grace time.Duration // zero means the default

	mu      sync.Mutex
	holders map[*lane]bool
	freed   chan struct{} // closed and made anew when a lane is freed
}

// lane is a place that a body has.
type lane struct {
	bytes     atomic.Int64 // that came since it has the lane
	spent     atomic.Int64 // nanoseconds in which they were waited for
	reading   atomic.Int64 // when the wait that is under way began, in Unix nanoseconds; zero: none
	evicted   atomic.Bool
	interrupt func() // ends a read that is under way; may be nil
}

// read reads from a body and counts what came, and how long the client took for it:
// what the server itself takes is not the client's.
func (one *lane) read(body io.Reader, p []byte) (int, error) {
	began := time.Now() //nolint:forbidigo // the network knows no other clock
	one.reading.Store(began.UnixNano())
	n, err := body.Read(p)
	one.reading.Store(0)
	one.spent.Add(int64(time.Since(began)))
	one.bytes.Add(int64(n))
	return n, err
}

// waited returns how long the client was waited for.
func (one *lane) waited() time.Duration {
	waited := time.Duration(one.spent.Load())
	if began := one.reading.Load(); began != 0 {
		waited += time.Since(time.Unix(0, began))
	}
	return waited
}

// enter waits for a lane.
func (l *Lanes) enter(ctx context.Context, interrupt func()) (*lane, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrBusy)
	defer cancel()
	look := time.NewTicker(cmp.Or(l.grace, defaultGrace) / 4)
	defer look.Stop()
	for {
		entered, freed := l.try(interrupt)
		if entered != nil {
			return entered, nil
		}
		select {
		case <-freed:
		case <-look.C:
			l.evict()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *Lanes) try(interrupt func()) (entered *lane, freed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.freed == nil {
		l.holders, l.freed = make(map[*lane]bool), make(chan struct{})
	}
	if len(l.holders) >= most {
		return nil, l.freed
	}
	entered = &lane{interrupt: interrupt}
	l.holders[entered] = true
	return entered, nil
}

func (l *Lanes) leave(one *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders[one] {
		delete(l.holders, one)
		close(l.freed)
		l.freed = make(chan struct{})
	}
}

// evict ends the slowest body that has a lane, if it is too slow.
func (l *Lanes) evict() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var worst *lane
	least := float64(slowest)
	for one := range l.holders {
		waited := one.waited()
		if rate := float64(one.bytes.Load()) / waited.Seconds(); waited > cmp.Or(l.grace, defaultGrace) && rate < least && !one.evicted.Load() {
			worst, least = one, rate
		}
	}
	if worst == nil {
		return
	}
	worst.evicted.Store(true)
	if worst.interrupt != nil {
		worst.interrupt()
	}
}
