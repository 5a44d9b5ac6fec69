package stardust

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Open opens a stream that reads a published payload; see [PluginStream].
//
// It returns StatusInvalidArgument when the digest is not 64 hexadecimal
// digits, StatusNotFound when no payload with the digest is published, and
// StatusEvaluationFailed when the stored manifest is damaged.
func (v Objects) Open(digest string) (*PluginStream, error) {
	const op = "objects.open"
	if err := v.enabled(); err != nil {
		return nil, withOp(op, err)
	}
	d, bad := parseDigest(digest)
	if bad != nil {
		return nil, withOp(op, bad)
	}
	return v.OpenDigest(d)
}

// OpenDigest is Open for a digest that is a value already.
func (v Objects) OpenDigest(digest Digest) (*PluginStream, error) {
	const op = "objects.open"
	r := &reader{db: v.db}
	err := v.read(func(view *catalog.View) (err error) {
		if r.payload, err = publishedPayload(view, digest); err != nil {
			return err
		}
		if r.payload.Size > 0 {
			r.segment, err = view.Segment(&r.payload, 0)
		}
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.db.remember(&PluginStream{db: v.db, ctx: v.context(), reader: r})
}

func publishedPayload(view *catalog.View, digest Digest) (catalog.Payload, error) {
	p, found, err := view.Payload(digest)
	if err == nil && !found {
		err = unpublished("digest", digest)
	}
	return p, err
}

// reader reads a payload. The stream serializes calls, except readAt.
type reader struct {
	db      *DB
	payload catalog.Payload

	position int64
	ahead    readAhead
	closed   atomic.Bool

	// mu guards what readAt shares with others.
	mu       sync.Mutex
	segment  *catalog.Segment // the run of the manifest that was used last
	verified map[int64]struct{}
}

// span is the place of one chunk within a payload.
type span struct {
	row   int64 // of the chunk
	start int64 // in the payload
	size  int64
}

func (s span) end() int64 { return s.start + s.size }

// locate returns the chunk that holds the byte at offset.
func (r *reader) locate(ctx context.Context, offset int64) (span, error) {
	r.mu.Lock()
	segment := r.segment
	r.mu.Unlock()
	if segment == nil || offset < segment.Start || offset >= segment.End() {
		err := r.db.catalog.ReadOne(ctx, catalog.Live, func(v *catalog.View) (err error) {
			segment, err = v.Segment(&r.payload, offset)
			return err
		})
		if err != nil {
			return span{}, asError(err)
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
	return span{}, damaged(nil, "manifest of payload %v: no chunk holds byte %d", r.payload.Digest, offset)
}

func (r *reader) check() error {
	if r.closed.Load() {
		return &Error{Status: StatusClosed, Message: "the stream is closed"}
	}
	return nil
}

func (r *reader) read(ctx context.Context, p []byte) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.position >= r.payload.Size {
		r.ahead.close(r.db)
		return 0, io.EOF
	}
	data, err := r.ahead.at(ctx, r, r.position)
	if err != nil {
		return 0, err
	}
	n := copy(p, data)
	r.position += int64(n)
	return n, nil
}

// writeTo tells errors of the target from those of the payload.
func (r *reader) writeTo(ctx context.Context, w io.Writer) (total int64, target, err error) {
	if err := r.check(); err != nil {
		return 0, nil, err
	}
	for r.position < r.payload.Size {
		data, err := r.ahead.at(ctx, r, r.position)
		if err != nil {
			return total, nil, err
		}
		n, err := w.Write(data)
		if n < 0 || n > len(data) {
			n = 0
		}
		r.position += int64(n)
		total += int64(n)
		if err == nil && n < len(data) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err, nil
		}
	}
	return total, nil, nil
}

func (r *reader) seek(offset int64, whence int) (int64, error) {
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
		return 0, invalid("whence: %d is none of io.SeekStart, io.SeekCurrent and io.SeekEnd", whence)
	}
	if offset > 0 && base+offset < base {
		return 0, invalid("offset: %d from %d overflows", offset, base)
	}
	if base+offset < 0 {
		return 0, invalid("offset: position %d is before the start", base+offset)
	}
	r.position = base + offset
	return r.position, nil
}

func (r *reader) close() {
	if r.closed.CompareAndSwap(false, true) {
		r.ahead.close(r.db)
	}
}

// readAt serves random reads: from the cache of verified chunks, or from a
// chunk that it reads and verifies whole the first time, or, later, from the
// blocks of the file that hold the bytes.
func (r *reader) readAt(ctx context.Context, p []byte, offset int64) (total int, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, invalid("offset: %d is negative", offset)
	}
	for total < len(p) {
		at := offset + int64(total)
		if at >= r.payload.Size {
			return total, io.EOF
		}
		s, err := r.locate(ctx, at)
		if err != nil {
			return total, err
		}
		part := p[total:min(int64(len(p)), int64(total)+s.end()-at)]
		if err := r.readSpan(ctx, part, s, at-s.start); err != nil {
			return total, err
		}
		total += len(part)
	}
	return total, nil
}

// readSpan fills p from an offset within one chunk.
func (r *reader) readSpan(ctx context.Context, p []byte, s span, offset int64) error {
	if data := r.db.budget.cached(s.row); data != nil {
		if int64(len(data)) != s.size {
			return wrongSize(s, int64(len(data)))
		}
		copy(p, data[offset:])
		return nil
	}
	if r.isVerified(s.row) {
		done, err := r.db.readBlocks(ctx, p, s, offset)
		if done || err != nil {
			return err
		}
		// A block does not match: the whole chunk decides, and may have been
		// healed meanwhile.
	}
	if s.size > uploadBuffer {
		return tooLarge(s)
	}
	if !r.db.budget.reserve(s.size) {
		return r.db.budget.outOfMemory(s.size, "a chunk")
	}
	data := make([]byte, s.size)
	if err := r.db.readChunk(ctx, s, data); err != nil {
		r.db.budget.release(s.size)
		return err
	}
	r.markVerified(s.row)
	copy(p, data[offset:])
	r.db.budget.keep(s.row, data)
	return nil
}

func (r *reader) isVerified(row int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.verified[row]
	return ok
}

// maxVerified bounds a stream's memory of what it verified: at 1 MiB a chunk,
// 64 GiB of payload. Beyond it a stream forgets and verifies anew.
const maxVerified = 1 << 16

func (r *reader) markVerified(row int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verified == nil || len(r.verified) >= maxVerified {
		r.verified = make(map[int64]struct{})
	}
	r.verified[row] = struct{}{}
}
