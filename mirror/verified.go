package mirror

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// maxHeals is how often one read replaces its local copy before it gives up: a
// disk that damages what was just written can't be helped.
const maxHeals = 3

// verifiedReader reads an open file and checks every block that it touches. A
// damaged copy is replaced by a refetch, which all who find the damage share,
// and the read continues in the new copy.
type verifiedReader struct {
	m    *Mirror
	path objectstore.Path
	// ended says that the caller of Get gave up, which ends a refetch; the context
	// itself is not kept.
	ended <-chan struct{}
	size  int64
	etag  string

	mu      sync.RWMutex // h is replaced with it locked
	h       *local.Handle
	gone    bool          // closed
	closing chan struct{} // closed by close; made by the first refetch
}

// verifiedBody is a body over a verifiedReader, in one allocation.
type verifiedBody struct {
	body
	reader verifiedReader
}

func (m *Mirror) openVerified(ctx context.Context, path objectstore.Path, h *local.Handle, start, end int64) *objectstore.GetResult {
	b := &verifiedBody{reader: verifiedReader{
		m: m, path: path, ended: ctx.Done(), size: h.Entry.Size, etag: h.Entry.ETag(), h: h,
	}}
	b.body.reader, b.start, b.size = &b.reader, start, end-start
	describe(&b.result, path, h.Entry, start, end)
	b.result.Body = b
	return &b.result
}

func (r *verifiedReader) readAt(p []byte, off int64) error {
	for len(p) > 0 {
		block := off / local.BlockSize
		from := off - block*local.BlockSize
		if from == 0 && len(p) > local.BlockSize {
			good, err := r.readWhole(p[:len(p)-len(p)%local.BlockSize], block)
			if err != nil {
				return r.m.fail("read", r.path, err)
			}
			if p, off = p[good:], off+good; good > 0 {
				continue
			}
		}
		n := min(int64(len(p)), local.BlockSize-from)
		if err := r.readBlock(p[:n], block, from); err != nil {
			return r.m.fail("read", r.path, err)
		}
		p, off = p[n:], off+n
	}
	return nil
}

// readWhole fills p with whole blocks, as many as are good, which may be none.
func (r *verifiedReader) readWhole(p []byte, block int64) (good int64, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.gone {
		return 0, errClosedBody
	}
	return r.m.local.Files.ReadWhole(r.h, p, block), nil
}

// readBlock fills p from a block, beginning at its byte from.
func (r *verifiedReader) readBlock(p []byte, block, from int64) error {
	for heals := 0; ; heals++ {
		r.mu.RLock()
		h := r.h
		if r.gone {
			r.mu.RUnlock()
			return errClosedBody
		}
		damage := r.m.local.Files.ReadChecked(h, p, block, from)
		r.mu.RUnlock()
		if damage == nil {
			return nil
		}
		if heals >= maxHeals {
			bump(&r.m.counters.HealFailures, 1)
			return local.Fail("read the local copy", r.path, damage)
		}
		r.m.logger.Warn("local copy is damaged", "path", r.path, "block", block, "error", damage)
		if err := r.heal(h); err != nil {
			bump(&r.m.counters.HealFailures, 1)
			return fmt.Errorf("a damaged local copy can't be replaced: %w", err)
		}
		bump(&r.m.counters.Heals, 1)
	}
}

var errClosedBody = errors.New("body is closed")

// heal downloads a good copy and reads from that instead of the damaged one.
func (r *verifiedReader) heal(damaged *local.Handle) error {
	r.mu.RLock()
	replaced := r.h != damaged
	r.mu.RUnlock()
	if replaced {
		return nil // another ReadAt of this body did it
	}
	if err := r.refetch(damaged.Entry); err != nil {
		return err
	}
	h, err := r.m.local.Open(untilEnded{context.Background(), r.ended}, r.path, r.m.local.Index.Get(r.path))
	switch {
	case err != nil:
		return err
	case h == nil:
		return &NotLocal{Path: r.path}
	case h.Entry.Size != r.size || h.Entry.ETag() != r.etag:
		return errors.Join(fmt.Errorf("the object changed: ETag %q, not %q", h.Entry.ETag(), r.etag), r.m.local.Files.Release(h))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || r.h != damaged {
		return r.m.local.Files.Release(h)
	}
	r.h = h
	return r.m.local.Files.Discard(damaged)
}

// refetch downloads the object again, unless another reader of the damaged copy
// has replaced it already.
func (r *verifiedReader) refetch(damaged *local.Entry) error {
	f := r.m.downloads.launch(r.path, demand{stale: damaged})
	if f == nil {
		return nil
	}
	r.mu.Lock()
	if r.closing == nil {
		r.closing = make(chan struct{})
	}
	closing, gone := r.closing, r.gone
	r.mu.Unlock()
	if gone {
		f.leave(nil, r.m.ordering.cancel)
		return errClosedBody
	}
	select {
	case <-f.done:
		return f.err
	case <-r.ended:
		f.leave(nil, r.m.ordering.cancel)
		return context.Canceled
	case <-closing:
		f.leave(nil, r.m.ordering.cancel)
		return errClosedBody
	}
}

// untilEnded is a context that ends when the caller of Get gives up.
type untilEnded struct {
	context.Context //nolint:containedctx // Background, for what a context has beside its end
	ended           <-chan struct{}
}

func (u untilEnded) Done() <-chan struct{} { return u.ended }

func (u untilEnded) Err() error {
	select {
	case <-u.ended:
		return context.Canceled
	default:
		return nil
	}
}

func (r *verifiedReader) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	if r.closing != nil {
		close(r.closing)
	}
	return r.m.local.Files.Release(r.h)
}
