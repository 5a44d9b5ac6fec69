package payload

import (
	"context"
	"io"
)

// ReadAt serves random reads: from the cache of verified chunks, or from a
// chunk that it reads and verifies whole the first time, or, later, from the
// blocks of the file that hold the bytes.
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
	if r.isVerified(at.row) {
		done, err := s.readBlocks(ctx, p, at, offset)
		if done || err != nil {
			return err
		}
		// A block does not match: the whole chunk decides, and may have been
		// healed meanwhile.
	}
	if err := at.check(); err != nil {
		return err
	}
	if err := s.memory.need(at.size, "a chunk"); err != nil {
		return err
	}
	data := make([]byte, at.size)
	if err := s.readChunk(ctx, at, data); err != nil {
		s.memory.release(at.size)
		return err
	}
	r.markVerified(at.row)
	copy(p, data[offset:])
	if !s.cache.put(at.row, data) {
		s.memory.release(at.size)
	}
	return nil
}

func (r *Reader) isVerified(row int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.verified[row]
	return ok
}

// maxVerified bounds a reader's memory of what it verified: at 1 MiB a chunk,
// 64 GiB of payload. Beyond it a reader forgets, and verifies again.
const maxVerified = 1 << 16

func (r *Reader) markVerified(row int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verified == nil || len(r.verified) >= maxVerified {
		r.verified = make(map[int64]struct{})
	}
	r.verified[row] = struct{}{}
}
