package payload

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// Upload collects a payload's bytes in a buffer, cuts chunks off its front and
// hands them to a pipeline that hashes and stores these. Its methods but Size
// belong to one goroutine at a time.
//
// A payload that fits in one buffer, as most do, is handled within Finish and
// starts no goroutine.
//
// Only ErrClosed and ErrGone end an upload. After other errors what was written
// stays, and the call may be made again once there is memory, space on the
// disk, or no hold on writes.
type Upload struct {
	store *Store
	size  atomic.Int64

	buffer  *buffer // nil once the draft is complete, and after the end
	hashed  int     // buffer.data[:hashed] is in the pipeline's payload hash already
	reading bool    // a caller's reader is filling the buffer

	pipeline *pipeline // nil until the first buffer is full
	draft    *Draft    // when all is stored
	err      error     // what ended the upload
}

// NewUpload begins an upload. It takes a small working buffer, and returns an
// error that wraps ErrNoMemory when there is no room for it.
func (s *Store) NewUpload(ctx context.Context) (*Upload, error) {
	b, err := s.memory.working(ctx, smallBuffer, "the upload's working buffer")
	if err != nil {
		return nil, err
	}
	return &Upload{store: s, buffer: b}, nil
}

// Size returns how many bytes were written so far. It may be called at any time.
func (u *Upload) Size() int64 { return u.size.Load() }

// Err returns what ended the upload, or nil.
func (u *Upload) Err() error { return u.err }

// room returns the free part of the buffer, which is never empty. More says how
// many bytes are known to come.
func (u *Upload) room(ctx context.Context, more int) ([]byte, error) {
	if u.err != nil {
		return nil, u.err
	}
	if u.draft != nil {
		return nil, fail(ErrClosed, "the payload takes no more bytes after Finish was called; call Finish again, or close the upload")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(u.buffer.data) == cap(u.buffer.data) {
		var err error
		if cap(u.buffer.data) < workingBuffer {
			err = u.grow(ctx, more)
		} else {
			err = u.flush(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return u.buffer.data[len(u.buffer.data):cap(u.buffer.data)], nil
}

// grow takes a larger buffer.
func (u *Upload) grow(ctx context.Context, more int) error {
	m := u.store.memory
	if whole := m.extend(u.buffer); whole != nil {
		u.buffer = whole
		return nil
	}
	size := int64(workingBuffer)
	if len(u.buffer.data)+more <= mediumBuffer && cap(u.buffer.data) < mediumBuffer {
		size = mediumBuffer
	}
	next, err := m.working(ctx, size, "the upload's working buffer")
	if err != nil {
		return err
	}
	next.data = append(next.data, u.buffer.data...)
	m.put(u.buffer)
	u.buffer = next
	return nil
}

// wrote notes n bytes put into the room.
func (u *Upload) wrote(n int) {
	u.buffer.data = u.buffer.data[:len(u.buffer.data)+n]
	u.size.Add(int64(n))
}

// Write appends bytes to the payload. After an error the first n of them are part
// of it, and the rest may be written again.
func (u *Upload) Write(ctx context.Context, p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, u.err
	}
	for n < len(p) {
		room, err := u.room(ctx, len(p)-n)
		if err != nil {
			return n, err
		}
		m := copy(room, p[n:])
		u.wrote(m)
		n += m
	}
	return n, nil
}

// ReadFrom appends all that r yields, until ctx ends. It tells errors of the
// source, which leave the upload usable, from those of the upload. While r is
// being read, the upload may be closed, by r or by somebody whom r tells.
func (u *Upload) ReadFrom(ctx context.Context, r io.Reader) (total int64, source, err error) {
	for empty := 0; empty < 100; {
		room, err := u.room(ctx, 0)
		if err != nil {
			return total, nil, err
		}
		lent := u.buffer
		u.reading = true
		n, err := r.Read(room)
		u.reading = false
		if u.err != nil {
			u.store.memory.put(lent)
			return total, nil, u.err
		}
		if n < 0 || n > len(room) {
			return total, errors.New("the reader returned an impossible count"), nil
		}
		u.wrote(n)
		total += int64(n)
		switch {
		case err == io.EOF: // io.Reader's contract
			return total, nil, nil
		case err != nil:
			return total, err, nil
		case n == 0:
			empty++
		default:
			empty = 0
		}
	}
	return total, io.ErrNoProgress, nil
}

// flush hands the full buffer to the pipeline and takes the next one, which
// begins with what could not be cut yet.
func (u *Upload) flush(ctx context.Context) error {
	if u.pipeline == nil {
		u.pipeline = u.store.newPipeline(ctx, u.buffer)
	}
	b, err := u.pipeline.flush(u.buffer, u.hashed)
	if err != nil {
		return err
	}
	u.buffer, u.hashed = b, len(b.data)
	return nil
}

// Finish stores the rest, has commit publish the payload, and ends the upload.
// commit runs the draft's Publish within a commit, and its Doubt when that failed
// in a way that leaves open whether it took place. No memory of the upload's
// buffers is held meanwhile. When commit fails, Finish may be called again.
func (u *Upload) Finish(ctx context.Context, commit func(*Draft) error) (Published, error) {
	if err := u.complete(ctx); err != nil {
		return Published{}, err
	}
	if err := commit(u.draft); err != nil {
		if errors.Is(err, ErrGone) {
			u.end(err)
		}
		return Published{}, err
	}
	u.draft.Settle()
	published := u.draft.published
	u.end(errFinished())
	return published, nil
}

func errFinished() error { return fail(ErrClosed, "the upload has finished") }

// Detach stores the rest and ends the upload. The caller publishes the draft and
// settles it, or abandons it.
func (u *Upload) Detach(ctx context.Context) (*Draft, error) {
	if err := u.complete(ctx); err != nil {
		return nil, err
	}
	d := u.draft
	u.draft = nil
	u.end(errFinished())
	return d, nil
}

// complete stores what remains in the buffer and gives back the buffers.
func (u *Upload) complete(ctx context.Context) error {
	switch {
	case u.err != nil:
		return u.err
	case u.draft != nil:
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if u.pipeline != nil {
		if u.pipeline.added { // a flush failed half-way
			if err := u.flush(ctx); err != nil {
				return err
			}
		}
		d, err := u.pipeline.finish(u.buffer, u.hashed, u.Size())
		if err != nil {
			return err
		}
		u.draft, u.pipeline, u.buffer = d, nil, nil
		return nil
	}
	d := newDraft(u.store)
	if err := d.whole(ctx, u.buffer.data); err != nil {
		d.Abandon()
		return err
	}
	u.store.memory.put(u.buffer)
	u.draft, u.buffer = d, nil
	return nil
}

// end gives back the upload's memory, and its space in the file unless it
// published. Later calls return err. A buffer that a caller's reader is filling
// comes back when that returns.
func (u *Upload) end(err error) {
	if u.err != nil {
		return
	}
	u.err = err
	if u.pipeline != nil {
		u.pipeline.close(u.buffer, u.reading)
	} else if u.buffer != nil && !u.reading {
		u.store.memory.put(u.buffer)
	}
	if u.draft != nil {
		u.draft.Abandon()
	}
	u.buffer, u.pipeline, u.draft = nil, nil, nil
}

// Close abandons the upload unless it has finished. It may be called again.
func (u *Upload) Close() { u.end(fail(ErrClosed, "the stream is closed")) }
