package payload

import (
	"context"
	"sync"
)

// readAheadChunks is how many chunks after the current one are read and
// verified in advance, each on a goroutine of its own: two cores hash while the
// caller uses what it has.
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
	buffer *buffer
	done   chan struct{}
	err    error
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
		a.drop(r.store, a.current)
		a.current = nil
	}
	if len(a.next) == 0 {
		f, err := a.start(ctx, r, offset, true)
		if err != nil {
			return err
		}
		a.next = append(a.next, f)
	}
	f := a.next[0]
	if sequential || offset == 0 {
		// The first chunk of a whole read counts as sequential, too.
		a.fill(ctx, r)
	}
	<-f.done
	a.next = a.next[1:]
	if f.err != nil {
		err := f.err
		a.drop(r.store, f)
		a.close(r.store)
		return err
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
	if must {
		err = r.store.memory.need(at.size, "the reading buffer")
	} else if !r.store.memory.reserve(at.size) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &fetch{span: at, buffer: r.store.buffers.sized(at.size), done: make(chan struct{})}
	a.work.Go(func() {
		defer close(f.done)
		if cached := r.store.cache.get(at.row); int64(len(cached)) == at.size {
			copy(f.buffer.data, cached)
			return
		}
		_, f.err = r.store.readChunk(ctx, at, f.buffer.data)
	})
	return f, nil
}

// drop gives back the memory of a chunk that is no longer needed.
func (a *readAhead) drop(s *Store, f *fetch) {
	s.buffers.put(f.buffer)
	s.memory.release(f.span.size)
}

// close waits for what is under way and gives back all memory.
func (a *readAhead) close(s *Store) {
	a.work.Wait()
	if a.current != nil {
		a.drop(s, a.current)
		a.current = nil
	}
	for _, f := range a.next {
		a.drop(s, f)
	}
	a.next = nil
}
