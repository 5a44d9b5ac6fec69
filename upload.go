package stardust

import (
	"context"
	"errors"
	"io"

	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/dust"
)

// uploadBuffer is the size of a working buffer: the largest chunk.
const uploadBuffer = chunk.Max

// Upload opens a stream that writes one payload; see [PluginStream]. It holds a
// working buffer of 4 MiB from the memory budget until it finishes or closes,
// and more while there is room, to work ahead.
//
// It returns StatusOutOfMemory when the buffer does not fit, and StatusConflict
// while the database holds writes.
func (v Objects) Upload() (*PluginStream, error) {
	const op = "objects.upload"
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	u, err := v.db.newUpload(v.context())
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.db.remember(&PluginStream{db: v.db, ctx: v.context(), upload: u})
}

// Published is the result of a finished upload.
type Published struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // in bytes
	// Deduplicated says that an equal payload was published already.
	Deduplicated bool `json:"deduplicated"`
}

func (p Published) document() *Document {
	return newDocument(dust.NewObject(
		dust.Member{Name: "digest", Value: documentDigest(p.Digest)},
		dust.Member{Name: "size", Value: dust.NewInt(p.Size)},
		dust.Member{Name: "deduplicated", Value: dust.NewBool(p.Deduplicated)}))
}

// upload collects a payload's bytes in a buffer, cuts chunks off its front and
// hands them to a pipeline that hashes and stores them.
//
// A payload that fits in one buffer, as most do, is handled within Finish and
// starts no goroutine.
type upload struct {
	db   *DB
	size int64

	buffer *buffer // nil until the first write, and after the end
	hashed int     // buffer.data[:hashed] is in the pipeline's payload hash already

	pipeline *pipeline // nil until the first buffer is full
	err      error     // what ended the upload; StatusClosed after finish
}

func (db *DB) newUpload(ctx context.Context) (*upload, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !db.budget.reserve(uploadBuffer) {
		return nil, db.budget.outOfMemory(uploadBuffer, "the upload's working buffer")
	}
	return &upload{db: db}, nil
}

// room returns the free part of the buffer, which is never empty.
func (u *upload) room() ([]byte, error) {
	if u.err != nil {
		return nil, u.err
	}
	if u.buffer == nil {
		u.buffer = u.db.buffers.get()
	}
	if len(u.buffer.data) == cap(u.buffer.data) {
		if err := u.flush(); err != nil {
			u.end(err)
			return nil, err
		}
	}
	return u.buffer.data[len(u.buffer.data):cap(u.buffer.data)], nil
}

// wrote takes note of n bytes put into the room.
func (u *upload) wrote(n int) {
	u.buffer.data = u.buffer.data[:len(u.buffer.data)+n]
	u.size += int64(n)
}

func (u *upload) write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		room, err := u.room()
		if err != nil {
			return total - len(p), err
		}
		n := copy(room, p)
		u.wrote(n)
		p = p[n:]
	}
	return total, u.err
}

// readFrom tells errors of the source from those of the upload.
func (u *upload) readFrom(r io.Reader) (total int64, source, err error) {
	for empty := 0; empty < 100; {
		room, err := u.room()
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
func (u *upload) flush() (err error) {
	if u.pipeline == nil {
		u.pipeline = newPipeline(u.db, u.buffer)
	}
	rest := u.pipeline.add(u.buffer, u.hashed, false)
	u.buffer, err = u.pipeline.next(u.buffer, rest)
	u.hashed = len(rest)
	return err
}

// finish stores the rest, publishes the payload and ends the upload.
func (u *upload) finish(ctx context.Context) (Published, error) {
	if u.err != nil {
		return Published{}, u.err
	}
	if u.db.queue.held() {
		return Published{}, writesHeld()
	}
	d, err := u.complete()
	if err == nil {
		err = u.db.publish(ctx, d)
	} else {
		d.abandon()
	}
	if err != nil {
		u.end(err)
		return Published{}, err
	}
	u.end(&Error{Status: StatusClosed, Message: "the upload has finished"})
	return d.published, nil
}

// detach stores the rest and ends the upload, whose draft the caller publishes
// or abandons.
func (u *upload) detach() (*draft, error) {
	d, err := u.complete()
	if err != nil {
		d.abandon()
		return nil, err
	}
	if u.pipeline != nil {
		u.pipeline.draft = nil
	}
	u.end(&Error{Status: StatusClosed, Message: "the upload has finished"})
	return d, nil
}

// complete stores what remains in the buffer and returns the payload's draft.
func (u *upload) complete() (*draft, error) {
	if u.pipeline != nil {
		u.pipeline.add(u.buffer, u.hashed, true)
		return u.pipeline.finish(u.size)
	}
	var data []byte
	if u.buffer != nil {
		data = u.buffer.data
	}
	d := newDraft(u.db)
	return d, d.whole(data)
}

// end gives back the upload's memory, and its space in the file unless it
// published. Later calls return err.
func (u *upload) end(err error) {
	if u.err == nil {
		if u.pipeline != nil {
			u.pipeline.close()
		} else if u.buffer != nil {
			u.db.buffers.put(u.buffer)
		}
		u.buffer = nil
		u.db.budget.release(uploadBuffer)
	}
	u.err = err
}

func (u *upload) close() {
	u.end(&Error{Status: StatusClosed, Message: "the stream is closed"})
}
