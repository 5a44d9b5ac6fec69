package heap

import (
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Sync makes durable all records whose Append has returned. Callers that come
// at the same time share the disk's work.
//
// When the disk fails to sync, what was written since the last good Sync may be
// gone although it can still be read, and a later sync of the file proves
// nothing. So the records are remembered, and the next Sync first reads each one
// again, compares it with its digest and writes it once more. It fails with
// ErrLost when one cannot be read any more, until that one is freed.
func (h *Heap) Sync() error { return h.syncs.do(h.sync) }

// sync is one sync of the file. One runs at a time.
func (h *Heap) sync() error {
	if err := h.rewrite(); err != nil {
		return err
	}
	h.mu.Lock()
	// If the sync fails they stay here. What is appended meanwhile is fresh.
	h.suspect, h.fresh = h.fresh, make(map[int64]record)
	h.bytes = 0
	h.mu.Unlock()

	err := h.file.Sync()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.suspect = make(map[int64]record)
		return nil
	}
	h.failed++
	maps.Copy(h.suspect, h.fresh)
	h.fresh = make(map[int64]record)
	return fmt.Errorf("make chunks durable: %w", err)
}

// rewrite writes the records again that a failed sync may have lost, and moves
// them back to fresh. The lock keeps their ranges from being freed and used
// again meanwhile; this happens only after a disk failed.
func (h *Heap) rewrite() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for off, r := range maps.Clone(h.suspect) {
		body := make([]byte, r.location.Stored)
		head, err := h.loadChunk(r.location, r.digest, body)
		if errors.Is(err, ErrCorrupt) {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		if err == nil {
			err = h.file.WriteAt(off, head.encode(), body)
		}
		if err != nil {
			return fmt.Errorf("write chunks again after a failed sync: %w", err)
		}
		delete(h.suspect, off)
		h.fresh[off] = r
	}
	return nil
}

// syncGroup runs a function for all callers. A run serves those who asked
// before it began; those who ask during a run are served by the next.
type syncGroup struct {
	turn sync.Mutex // held by the run that is under way

	mu      sync.Mutex
	waiting *syncRun // has not begun
}

type syncRun struct {
	done chan struct{}
	err  error
}

func (g *syncGroup) do(fn func() error) error {
	g.mu.Lock()
	if run := g.waiting; run != nil {
		g.mu.Unlock()
		<-run.done
		return run.err
	}
	run := &syncRun{done: make(chan struct{})}
	g.waiting = run
	g.mu.Unlock()

	g.turn.Lock()
	defer g.turn.Unlock()
	g.mu.Lock()
	g.waiting = nil // from here on others wait for the next run
	g.mu.Unlock()
	run.err = fn()
	close(run.done)
	return run.err
}
