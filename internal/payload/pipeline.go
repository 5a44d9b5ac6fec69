package payload

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"

	"github.com/stardustdb/stardust/internal/chunk"
)

const (
	// pipelineBuffers is how many buffers a large upload fills while earlier
	// ones are hashed and stored. All but one are work ahead, and taken only
	// while the memory budget has room.
	pipelineBuffers = 4
	// pipelineWorkers bounds the goroutines that hash and store chunks. One
	// core spends as long on that as another on cutting and the payload's
	// own hash.
	pipelineWorkers = 4
)

// pipeline hashes and stores the chunks of a large upload while the caller
// fills the next buffer and cuts it. One goroutine hashes the payload, a few
// hash and store chunks. The upload's goroutine calls all methods.
//
// The pipeline holds one buffer for as long as it lives. The others go back to
// the store as soon as nobody reads them.
//
// A chunk that could not be stored waits, and keeps its buffer, until the next
// call tries again.
type pipeline struct {
	store *Store
	draft *Draft

	whole  chan piece // for the payload's hash, in order
	chunks chan piece // for the chunks' hashes
	work   sync.WaitGroup

	// A flush that failed half-way: the buffer was added, and left this rest.
	added bool
	rest  []byte
	lent  bool // and its use was given up, for it to come back as free
	final bool // the last buffer was added

	mu      sync.Mutex
	changed sync.Cond
	buffers int     // there are
	wanted  bool    // the upload waits for a buffer
	free    *buffer // the one that it gets
	pending int     // chunks under way
	failed  []piece
	err     error // of the first of these
	closing bool  // skip what is left
}

// piece is part of a buffer on its way through the pipeline.
type piece struct {
	data []byte
	seq  int
	from *buffer
}

// newPipeline starts a pipeline whose first buffer is the upload's own. What it was
// given it stores, whether ctx ends or not: the upload's calls end with it.
func (s *Store) newPipeline(ctx context.Context, first *buffer) *pipeline {
	p := &pipeline{
		store: s, draft: newDraft(s), buffers: 1,
		whole:  make(chan piece, pipelineBuffers),
		chunks: make(chan piece, 4*pipelineBuffers),
	}
	p.changed.L = &p.mu
	ctx = context.WithoutCancel(ctx)
	first.refs.Store(1)
	p.work.Go(p.hashWhole)
	for range min(pipelineWorkers, max(2, runtime.GOMAXPROCS(0)-1)) {
		p.work.Go(func() { p.storeChunks(ctx) })
	}
	return p
}

func (p *pipeline) hashWhole() {
	h := sha256.New()
	for piece := range p.whole {
		h.Write(piece.data)
		p.release(piece.from)
	}
	h.Sum(p.draft.published.Digest[:0])
}

func (p *pipeline) storeChunks(ctx context.Context) {
	for piece := range p.chunks {
		err := p.hindrance()
		if err == nil {
			err = p.draft.add(ctx, piece.seq, sha256.Sum256(piece.data), piece.data)
		}
		p.stored(piece, err)
	}
}

// hindrance returns why storing chunks would be of no use now.
func (p *pipeline) hindrance() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return errFinished()
	}
	return p.err
}

// stored notes the outcome of a chunk.
func (p *pipeline) stored(chunk piece, err error) {
	p.mu.Lock()
	p.pending--
	again := err != nil && !p.closing
	if again {
		p.failed = append(p.failed, chunk)
		if p.err == nil {
			p.err = err
		}
	}
	p.changed.Broadcast()
	p.mu.Unlock()
	if !again {
		p.release(chunk.from)
	}
}

// release ends a use of a buffer. After the last one it goes to the upload, when
// that waits for one, or back to the store.
func (p *pipeline) release(b *buffer) {
	if b.refs.Add(-1) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && p.free == nil {
		p.free = b
		p.changed.Broadcast()
		return
	}
	p.giveBack(b)
}

// giveBack returns a buffer to the store. p.mu is held.
func (p *pipeline) giveBack(b *buffer) {
	p.buffers--
	if p.buffers > 0 {
		p.store.memory.putAhead(b)
	} else {
		p.store.memory.put(b)
	}
}

// add sends a buffer through the pipeline: to the payload's hash what is not
// hashed yet, and every chunk that can be cut. It returns the rest.
func (p *pipeline) add(b *buffer, hashed int, final bool) (rest []byte) {
	if len(b.data) > hashed {
		b.refs.Add(1)
		p.whole <- piece{data: b.data[hashed:], from: b}
	}
	rest = b.data
	for final || len(rest) >= chunk.Worthwhile {
		n := chunk.Cut(rest, final)
		if n == 0 {
			break
		}
		b.refs.Add(1)
		p.send(piece{data: rest[:n], seq: p.draft.reserve(), from: b})
		rest = rest[n:]
	}
	return rest
}

func (p *pipeline) send(chunk piece) {
	p.mu.Lock()
	p.pending++
	p.mu.Unlock()
	p.chunks <- chunk
}

// retry sends the chunks again that could not be stored.
func (p *pipeline) retry() {
	p.mu.Lock()
	failed := p.failed
	p.failed, p.err = nil, nil
	p.mu.Unlock()
	for _, chunk := range failed {
		p.send(chunk)
	}
}

// flush adds a full buffer and returns one that begins with a copy of the rest.
// If there may be no more buffers, it waits for one to come free. After an
// error it is called with the same buffer.
func (p *pipeline) flush(b *buffer, hashed int) (*buffer, error) {
	if p.added {
		p.retry()
	} else {
		p.rest, p.added = p.add(b, hashed, false), true
	}
	next := p.another()
	if next == nil {
		var err error
		if next, err = p.wait(b); err != nil {
			return nil, err
		}
	}
	next.data = append(next.data[:0], p.rest...) // moves within the same buffer, too
	if !p.lent {
		p.release(b)
	}
	next.refs.Store(1)
	p.rest, p.added, p.lent = nil, false, false
	return next, nil
}

// another returns one more buffer, or nil when there may be no more, or the only
// one is on its way back.
func (p *pipeline) another() *buffer {
	p.mu.Lock()
	may := p.buffers < pipelineBuffers && !p.lent && p.err == nil
	p.mu.Unlock()
	if !may {
		return nil
	}
	b := p.store.memory.getAhead(workingBuffer)
	if b != nil {
		p.mu.Lock()
		p.buffers++
		p.mu.Unlock()
	}
	return b
}

// wait returns the next buffer that comes free. Its own one, when there is no
// other, must come free, too.
func (p *pipeline) wait(current *buffer) (*buffer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	if p.buffers == 1 && !p.lent {
		p.lent = true
		p.mu.Unlock()
		p.release(current)
		p.mu.Lock()
	}
	for p.free == nil && p.err == nil {
		p.changed.Wait()
	}
	if p.free == nil {
		p.wanted = p.lent
		return nil, p.err
	}
	b := p.free
	p.free, p.wanted = nil, false
	return b, nil
}

// finish adds the last buffer, waits until all is stored, gives back all memory
// and returns the draft. After an error it is called again.
func (p *pipeline) finish(b *buffer, hashed int, size int64) (*Draft, error) {
	if p.final {
		p.retry()
	} else {
		p.add(b, hashed, true)
		p.final = true
	}
	p.mu.Lock()
	for p.pending > 0 {
		p.changed.Wait()
	}
	err := p.err
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p.end(b, false)
	p.draft.published.Size = size
	return p.draft, nil
}

// end ends the goroutines and gives back the memory, but for the current buffer
// when somebody else has that.
func (p *pipeline) end(current *buffer, reading bool) {
	close(p.whole)
	close(p.chunks)
	p.work.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free != nil {
		p.giveBack(p.free)
		p.free = nil
	} else if !p.lent && !reading {
		p.giveBack(current)
	}
}

// close is end for an upload that is abandoned.
func (p *pipeline) close(current *buffer, reading bool) {
	p.mu.Lock()
	p.closing = true
	failed := p.failed
	p.failed = nil
	p.mu.Unlock()
	for _, chunk := range failed {
		p.release(chunk.from)
	}
	p.end(current, reading)
	p.draft.Abandon()
}
