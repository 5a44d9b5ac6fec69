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
	// ones are hashed and stored. All but the first are taken only while the
	// memory budget has room.
	pipelineBuffers = 4
	// pipelineWorkers bounds the goroutines that hash and store chunks. One
	// core spends as long on that as another on cutting and the payload's
	// own hash.
	pipelineWorkers = 4
)

// pipeline hashes and stores the chunks of a large upload beside the caller,
// who fills the next buffer and cuts it. One goroutine hashes the payload, a
// few hash and store chunks. The upload's goroutine calls all methods.
type pipeline struct {
	store *Store
	draft *Draft

	total int          // buffers there are
	free  chan *buffer // those that nobody reads any more

	whole  chan piece // for the payload's hash, in order
	chunks chan piece // for the chunks' hashes
	work   sync.WaitGroup
	ended  bool

	mu  sync.Mutex
	err error // the first failure; later work is skipped
}

// piece is part of a buffer on its way through the pipeline.
type piece struct {
	data []byte
	seq  int
	from *buffer
}

// newPipeline starts a pipeline whose first buffer is the upload's own. Its work
// fails when ctx ends.
func (s *Store) newPipeline(ctx context.Context, first *buffer) *pipeline {
	p := &pipeline{
		store: s, draft: newDraft(s), total: 1,
		free:   make(chan *buffer, pipelineBuffers),
		whole:  make(chan piece, pipelineBuffers),
		chunks: make(chan piece, 4*pipelineBuffers),
	}
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
		if p.failure() == nil {
			if err := p.draft.add(ctx, piece.seq, sha256.Sum256(piece.data), piece.data); err != nil {
				p.fail(err)
			}
		}
		p.release(piece.from)
	}
}

func (p *pipeline) release(b *buffer) {
	if b.refs.Add(-1) == 0 {
		p.free <- b
	}
}

func (p *pipeline) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pipeline) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
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
		p.chunks <- piece{data: rest[:n], seq: p.draft.reserve(), from: b}
		rest = rest[n:]
	}
	return rest
}

// next gives up the current buffer and returns one that begins with a copy of
// rest. It waits for one to come free when there may be no more.
func (p *pipeline) next(current *buffer, rest []byte) (*buffer, error) {
	next := p.spare()
	if next == nil && p.total == 1 {
		// Only the current one: wait until the others have read it.
		p.release(current)
		next = <-p.free
	} else {
		if next == nil {
			next = <-p.free
		}
		defer p.release(current)
	}
	next.refs.Store(1)
	next.data = append(next.data[:0], rest...) // moves within the same buffer, too
	return next, p.failure()
}

// spare returns a buffer that needs no waiting, or nil.
func (p *pipeline) spare() *buffer {
	select {
	case b := <-p.free:
		return b
	default:
	}
	if p.total < pipelineBuffers && p.store.memory.reserve(workingBuffer) {
		p.total++
		return p.store.buffers.get()
	}
	return nil
}

// finish waits for everything and returns the draft. The last buffer has been
// added as final.
func (p *pipeline) finish(size int64) (*Draft, error) {
	p.end()
	p.draft.published.Size = size
	return p.draft, p.err
}

func (p *pipeline) end() {
	if !p.ended {
		p.ended = true
		close(p.whole)
		close(p.chunks)
		p.work.Wait()
	}
}

// close ends the goroutines and gives back the memory and, of an upload that
// was not published, the space. The first buffer's reservation is the
// upload's.
func (p *pipeline) close() {
	p.end()
	if p.draft != nil {
		p.draft.Abandon()
	}
	p.store.memory.release(int64(p.total-1) * workingBuffer)
	for {
		select {
		case b := <-p.free:
			p.store.buffers.put(b)
		default:
			return
		}
	}
}
