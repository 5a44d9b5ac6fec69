package payload

import (
	"context"
	"errors"
	"io"
)

// Upload collects a payload's bytes in a buffer, cuts chunks off its front and
// hands them to a pipeline that hashes and stores them. Its methods belong to one
// goroutine at a time.
//
// A payload that fits in one buffer, as most do, is handled within Finish and
// starts no goroutine.
type Upload struct {
	store *Store
	size  int64

	buffer *buffer // nil until the first write, and after the end
	hashed int     // buffer.data[:hashed] is in the pipeline's payload hash already

	pipeline *pipeline // nil until the first buffer is full
	err      error     // what ended the upload
}

// NewUpload begins an upload. It reserves a working buffer, and returns an error
// that wraps ErrNoMemory when there is no room for it.
func (s *Store) NewUpload() (*Upload, error) {
	if err := s.memory.need(workingBuffer, "the upload's working buffer"); err != nil {
		return nil, err
	}
	return &Upload{store: s}, nil
}

// Size returns how many bytes were written so far.
func (u *Upload) Size() int64 { return u.size }

// Err returns what ended the upload, or nil.
func (u *Upload) Err() error { return u.err }

// room returns the free part of the buffer, which is never empty.
func (u *Upload) room(ctx context.Context) ([]byte, error) {
	if u.err != nil {
		return nil, u.err
	}
	if u.buffer == nil {
		u.buffer = u.store.buffers.get()
	}
	if len(u.buffer.data) == cap(u.buffer.data) {
		if err := u.flush(ctx); err != nil {
			u.end(err)
			return nil, err
		}
	}
	return u.buffer.data[len(u.buffer.data):cap(u.buffer.data)], nil
}

// wrote takes note of n bytes put into the room.
func (u *Upload) wrote(n int) {
	u.buffer.data = u.buffer.data[:len(u.buffer.data)+n]
	u.size += int64(n)
}

// Write appends bytes to the payload. After an error the upload can only be
// closed.
func (u *Upload) Write(ctx context.Context, p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		room, err := u.room(ctx)
		if err != nil {
			return total - len(p), err
		}
		n := copy(room, p)
		u.wrote(n)
		p = p[n:]
	}
	return total, u.err
}

// ReadFrom appends all that r yields. It tells errors of the source, which leave
// the upload usable, from those of the upload.
func (u *Upload) ReadFrom(ctx context.Context, r io.Reader) (total int64, source, err error) {
	for empty := 0; empty < 100; {
		room, err := u.room(ctx)
		if err != nil {
			return total, nil, err
		}
		n, err := r.Read(room)
		if n < 0 || n > len(room) {
			return total, errors.New("the reader returned an impossible count"), nil
		}
		u.wrote(n)
		total += int64(n)
		switch {
		case err == io.EOF: //nolint:errorlint // io.Reader's contract
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
func (u *Upload) flush(ctx context.Context) (err error) {
	if u.pipeline == nil {
		u.pipeline = u.store.newPipeline(ctx, u.buffer)
	}
	rest := u.pipeline.add(u.buffer, u.hashed, false)
	u.buffer, err = u.pipeline.next(u.buffer, rest)
	u.hashed = len(rest)
	return err
}

// Finish stores the rest, has commit publish the payload, and ends the upload.
// commit runs the draft's Publish within a commit, and settles it.
func (u *Upload) Finish(ctx context.Context, commit func(*Draft) error) (Published, error) {
	if u.err != nil {
		return Published{}, u.err
	}
	d, err := u.complete(ctx)
	if err == nil {
		err = commit(d)
	}
	if err != nil {
		d.Abandon()
		u.end(err)
		return Published{}, err
	}
	u.end(errFinished())
	return d.published, nil
}

func errFinished() error { return fail(ErrClosed, "the upload has finished") }

// Detach stores the rest and ends the upload. The caller publishes the draft and
// settles it, or abandons it.
func (u *Upload) Detach(ctx context.Context) (*Draft, error) {
	if u.err != nil {
		return nil, u.err
	}
	d, err := u.complete(ctx)
	if err != nil {
		d.Abandon()
		u.end(err)
		return nil, err
	}
	if u.pipeline != nil {
		u.pipeline.draft = nil
	}
	u.end(errFinished())
	return d, nil
}

// complete stores what remains in the buffer and returns the payload's draft.
func (u *Upload) complete(ctx context.Context) (*Draft, error) {
	if u.pipeline != nil {
		u.pipeline.add(u.buffer, u.hashed, true)
		return u.pipeline.finish(u.size)
	}
	var data []byte
	if u.buffer != nil {
		data = u.buffer.data
	}
	d := newDraft(u.store)
	return d, d.whole(ctx, data)
}

// end gives back the upload's memory, and its space in the file unless it
// published. Later calls return err.
func (u *Upload) end(err error) {
	if u.err == nil {
		if u.pipeline != nil {
			u.pipeline.close()
		} else if u.buffer != nil {
			u.store.buffers.put(u.buffer)
		}
		u.buffer = nil
		u.store.memory.release(workingBuffer)
	}
	u.err = err
}

// Close abandons the upload unless it has finished. It may be called again.
func (u *Upload) Close() { u.end(fail(ErrClosed, "the stream is closed")) }
