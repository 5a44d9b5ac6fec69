package payload

import (
	"container/list"
	"context"
	"sync"
)

// readAheadChunks is how many chunks after the current one are read and
// verified in advance, each on a goroutine of its own: two cores hash while the
// caller uses the current one.
const readAheadChunks = 2

// readAhead holds the chunk that sequential reads stand in, and those that come
// next.
type readAhead struct {
	current *fetch
	next    []*fetch // in order, adjacent
	work    sync.WaitGroup
}

// fetch is one chunk on its way from the file.
type fetch struct {
	span   span
	buffer *buffer // nil after an error, or when it was reclaimed
	done   chan struct{}
	err    error

	ready *list.Element // in aheads, whose mu guards it and the buffer
}

// at returns verified bytes from an offset of the payload to the end of the
// chunk that holds it, valid until the next call.
func (a *readAhead) at(ctx context.Context, r *Reader, offset int64) ([]byte, error) {
	if a.current == nil || offset < a.current.span.start || offset >= a.current.span.end() {
		if err := a.advance(ctx, r, offset); err != nil {
			return nil, err
		}
	}
	return a.current.buffer.data[offset-a.current.span.start:], nil
}

// advance makes the chunk at offset the current one.
func (a *readAhead) advance(ctx context.Context, r *Reader, offset int64) error {
	sequential := a.current != nil && offset == a.current.span.end()
	if !sequential {
		a.close(r.store)
	} else {
		a.current.drop(r.store)
		a.current = nil
	}
	if sequential && len(a.next) > 0 {
		a.fill(ctx, r)
		if f := a.next[0]; f.wait(r.store) {
			a.next = a.next[1:]
			return a.enter(r.store, f)
		}
		a.close(r.store) // somebody needed the memory
	}
	f, err := a.start(ctx, r, offset, true)
	if err != nil {
		return err
	}
	if sequential || offset == 0 {
		// The first chunk of a whole read counts as sequential, too.
		a.next = append(a.next, f)
		a.fill(ctx, r)
		a.next = a.next[1:]
	}
	f.wait(r.store)
	return a.enter(r.store, f)
}

// enter makes a chunk that was read the current one.
func (a *readAhead) enter(s *Store, f *fetch) error {
	if f.err != nil {
		a.close(s)
		return f.err
	}
	a.current = f
	return nil
}

// fill starts to read what comes after the chunks under way, as far as the
// memory budget allows.
func (a *readAhead) fill(ctx context.Context, r *Reader) {
	for len(a.next) <= readAheadChunks {
		end := a.next[len(a.next)-1].span.end()
		if end >= r.payload.Size {
			return
		}
		f, err := a.start(ctx, r, end, false)
		if err != nil || f == nil {
			return // the read itself will come across the error
		}
		a.next = append(a.next, f)
	}
}

// start begins to read the chunk at offset. Where it must, it says what
// hinders it; otherwise it returns nil when memory is short.
func (a *readAhead) start(ctx context.Context, r *Reader, offset int64, must bool) (*fetch, error) {
	at, err := r.locate(ctx, offset)
	if err != nil {
		return nil, err
	}
	if err := at.check(); err != nil {
		return nil, err
	}
	f := &fetch{span: at, done: make(chan struct{})}
	if f.buffer, err = r.store.cachedChunk(at); f.buffer != nil || err != nil {
		close(f.done)
		return f, err
	}
	if must {
		if f.buffer, err = r.store.memory.get(ctx, at.size, "the reading buffer"); err != nil {
			return nil, err
		}
	} else if f.buffer = r.store.memory.getAhead(at.size); f.buffer == nil {
		return nil, nil
	}
	f.buffer.refs.Store(1)
	f.buffer.data = f.buffer.data[:at.size]
	a.work.Go(func() {
		defer close(f.done)
		_, f.err = r.store.readChunk(ctx, at, f.buffer.data)
		size := f.buffer.size()
		if f.err != nil {
			r.store.drop(f.buffer)
			f.buffer = nil
		} else if !must {
			r.store.aheads.add(f)
		}
		if !must {
			r.store.memory.settle(size)
		}
	})
	return f, nil
}

// wait returns when the chunk was read, and reports false when its memory was
// reclaimed since.
func (f *fetch) wait(s *Store) bool {
	<-f.done
	s.aheads.claim(f)
	return f.buffer != nil || f.err != nil
}

// drop gives back the memory of a chunk that is no longer needed.
func (f *fetch) drop(s *Store) {
	<-f.done
	s.aheads.claim(f)
	if f.buffer != nil {
		s.drop(f.buffer)
		f.buffer = nil
	}
}

// close waits for what is under way and gives back all memory.
func (a *readAhead) close(s *Store) {
	if a.current != nil {
		a.current.drop(s)
		a.current = nil
	}
	a.closeNext(s)
}

// closeNext is close for all but the current chunk.
func (a *readAhead) closeNext(s *Store) {
	a.work.Wait()
	for _, f := range a.next {
		f.drop(s)
	}
	a.next = nil
}

// aheads are the chunks that readers have read ahead and not reached yet. Their
// memory is given back when somebody else needs it.
type aheads struct {
	mu    sync.Mutex
	ready list.List // of *fetch, the oldest first
}

func (a *aheads) add(f *fetch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f.ready = a.ready.PushBack(f)
}

// claim keeps a chunk from being reclaimed, if it was not already.
func (a *aheads) claim(f *fetch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.ready != nil {
		a.ready.Remove(f.ready)
		f.ready = nil
	}
}

// reclaim gives back the memory of the oldest chunk.
func (a *aheads) reclaim(s *Store) bool {
	a.mu.Lock()
	oldest := a.ready.Front()
	if oldest == nil {
		a.mu.Unlock()
		return false
	}
	f := a.ready.Remove(oldest).(*fetch)
	b := f.buffer
	f.ready, f.buffer = nil, nil
	a.mu.Unlock()
	s.drop(b)
	return true
}
