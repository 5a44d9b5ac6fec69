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
			return total, err
		}
		total += len(part)
	}
	return total, nil
}

// readSpan fills p from an offset within one chunk.
func (r *Reader) readSpan(ctx context.Context, p []byte, at span, offset int64) error {
	s := r.store
	if data := s.cache.get(at.row); data != nil {
		if int64(len(data)) != at.size {
			return at.wrongSize(int64(len(data)))
		}
		copy(p, data[offset:])
		return nil
	}
	if v := s.vouched.get(at.row); v != nil && v.location.Size == at.size {
		if err := ctx.Err(); err != nil {
			return err
		}
		// A block that does not match is not the end: the chunk may lie elsewhere
		// by now, healed.
		if done, err := s.readBlocks(p, v, offset); done || err != nil {
			return err
		}
	}
	if err := at.check(); err != nil {
		return err
	}
	if err := s.memory.need(at.size, "a chunk"); err != nil {
		return err
	}
	data := make([]byte, at.size)
	row, err := s.readChunk(ctx, at, data)
	if err != nil {
		s.memory.release(at.size)
		return err
	}
	copy(p, data[offset:])
	s.vouch(&row, data)
	s.memory.release(s.cache.put(at.row, data))
	return nil
}
