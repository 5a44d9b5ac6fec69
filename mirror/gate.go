package mirror

import "sync"

// gate counts the calls in progress and refuses new ones once it is closed.
// Unlike a sync.RWMutex it lets a call in progress fail to enter again rather
// than wait for itself. The zero value is open.
type gate struct {
	mu     sync.Mutex
	calls  int
	closed bool
	empty  chan struct{} // closed when the last call left a closed gate
}

// enter reports whether a call may begin; if so, leave ends it.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.calls++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls--; g.calls == 0 && g.closed {
		close(g.empty)
	}
}

// close closes the gate, once, and waits for the calls in progress.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.empty = make(chan struct{})
	if g.calls == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	<-g.empty
}
