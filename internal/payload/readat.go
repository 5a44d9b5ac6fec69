package payload

import (
	"context"
	"io"
)

// ReadAt serves random reads: from the cache of verified chunks, from a chunk that
// it reads and verifies whole the first time, or, later, from the blocks of the
// file that hold the bytes and are still what they were.
func (r *Reader) ReadAt(ctx context.Context, p []byte, offset int64) (total int, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	if offset < 0 {
		return 0, fail(ErrArgument, "offset: %d is negative", offset)
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
			return total, r.gone(ctx, err)
		}
		total += len(part)
	}
	return total, nil
}

// readSpan fills p from an offset within one chunk.
func (r *Reader) readSpan(ctx context.Context, p []byte, at span, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := r.store
	if b, err := s.cachedChunk(at); b != nil || err != nil {
		if b != nil {
			copy(p, b.data[offset:])
			s.drop(b)
		}
		return err
	}
	if v, ok := s.vouched.get(at.row); ok && v.location.Size == at.size {
		// A block that does not match is not final: the chunk may have been healed,
		// at another place.
		if done, err := s.readBlocks(p, v, offset); done || err != nil {
			return err
		}
	}
	if err := at.check(); err != nil {
		return err
	}
	b, err := s.memory.get(ctx, at.size, "a chunk")
	if err != nil {
		return err
	}
	b.refs.Store(1)
	defer s.drop(b)
	b.data = b.data[:at.size]
	row, err := s.readChunk(ctx, at, b.data)
	if err != nil {
		return err
	}
	copy(p, b.data[offset:])
	s.vouch(&row, b.data)
	s.keepChunk(at.row, b)
	return nil
}
