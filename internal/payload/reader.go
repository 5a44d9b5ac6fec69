package payload

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Reader reads a published payload. ReadAt and Size may be called concurrently
// with each other and with the others; the others belong to one goroutine at a
// time.
type Reader struct {
	store   *Store
	payload catalog.Payload

	position int64
	ahead    readAhead
	writing  bool // a caller's writer has the current chunk
	closed   atomic.Bool

	// mu guards what ReadAt shares with others.
	mu      sync.Mutex
	segment *catalog.Segment // the run of the manifest that was used last
}

// NewReader opens a payload, as the view has it. The reader may outlive the view.
func (s *Store) NewReader(v *catalog.View, p catalog.Payload) (*Reader, error) {
	r := &Reader{store: s, payload: p}
	if p.Size > 0 {
		var err error
		if r.segment, err = v.Segment(&r.payload, 0); err != nil {
			return r, err
		}
	}
	s.departed.enter(p.ID)
	return r, nil
}

// Size returns the payload's size in bytes.
func (r *Reader) Size() int64 { return r.payload.Size }

// locate returns the chunk that holds the byte at offset.
func (r *Reader) locate(ctx context.Context, offset int64) (span, error) {
	r.mu.Lock()
	segment := r.segment
	r.mu.Unlock()
	if segment == nil || offset < segment.Start || offset >= segment.End() {
		err := r.store.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
			segment, err = v.Segment(&r.payload, offset)
			return err
		})
		if gone := r.store.departed.segment(r.payload.ID, offset); err != nil && gone != nil {
			segment, err = gone, nil
		}
		if err != nil {
			return span{}, r.gone(ctx, err)
		}
		r.mu.Lock()
		r.segment = segment
		r.mu.Unlock()
	}
	start := segment.Start
	for _, e := range segment.Entries {
		if offset < start+e.Size {
			return span{e.Chunk, start, e.Size}, nil
		}
		start += e.Size
	}
	return span{}, fail(ErrDamaged, "manifest of payload %v: no chunk holds byte %d", r.payload.Digest, offset)
}

// gone explains the apparent damage that a reader meets when its payload no
// longer exists because another process forgot it.
func (r *Reader) gone(ctx context.Context, err error) error {
	if !IsDamage(err) {
		return err
	}
	found := true
	look := r.store.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
		_, found, err = v.FindPayload(r.payload.ID)
		return err
	})
	if look == nil && !found {
		return fail(ErrForgotten, "payload %v was forgotten while it was read", r.payload.Digest)
	}
	return err
}

func (r *Reader) check() error {
	if r.closed.Load() {
		return fail(ErrClosed, "the stream is closed")
	}
	return nil
}

// Read reads from the position on, at most to the end of a chunk.
func (r *Reader) Read(ctx context.Context, p []byte) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.position >= r.payload.Size {
		r.ahead.close(r.store)
		return 0, io.EOF
	}
	data, err := r.ahead.at(ctx, r, r.position)
	if err != nil {
		return 0, r.gone(ctx, err)
	}
	n := copy(p, data)
	r.position += int64(n)
	return n, nil
}

// WriteTo writes all from the position on to w, until ctx ends. It tells errors of
// the target from those of the payload. While w is writing, the reader may be
// closed, by w or by somebody whom w tells.
func (r *Reader) WriteTo(ctx context.Context, w io.Writer) (total int64, target, err error) {
	if err := r.check(); err != nil {
		return 0, nil, err
	}
	for r.position < r.payload.Size {
		if err := ctx.Err(); err != nil {
			return total, nil, err
		}
		data, err := r.ahead.at(ctx, r, r.position)
		if err != nil {
			return total, nil, r.gone(ctx, err)
		}
		r.writing = true
		n, err := w.Write(data)
		r.writing = false
		if n < 0 || n > len(data) {
			n = 0
		}
		r.position += int64(n)
		total += int64(n)
		if err := r.check(); err != nil {
			r.ahead.close(r.store)
			return total, nil, err
		}
		if err == nil && n < len(data) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err, nil
		}
	}
	return total, nil, nil
}

// Seek moves the position, as io.Seeker has it. It may lie beyond the end.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	base := int64(0)
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = r.position
	case io.SeekEnd:
		base = r.payload.Size
	default:
		return 0, fail(ErrArgument, "whence: %d is none of io.SeekStart, io.SeekCurrent and io.SeekEnd", whence)
	}
	if offset > 0 && base+offset < base {
		return 0, fail(ErrArgument, "offset: %d from %d overflows", offset, base)
	}
	if base+offset < 0 {
		return 0, fail(ErrArgument, "offset: position %d is before the start", base+offset)
	}
	r.position = base + offset
	return r.position, nil
}

// Close gives back the reader's memory, except for a chunk that a caller's
// writer has: that comes back when the writer returns. It may be called again.
func (r *Reader) Close() {
	if !r.closed.CompareAndSwap(false, true) {
		return
	}
	r.store.departed.leave(r.payload.ID)
	if r.writing {
		r.ahead.closeNext(r.store)
	} else {
		r.ahead.close(r.store)
	}
}
