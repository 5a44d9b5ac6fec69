package stardust

import (
	"context"
	"errors"
	"io"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
)

// PluginStream is an upload that writes one payload, or a reader of a published
// payload; see [Objects.Upload] and [Objects.Open]. An upload implements
// io.Writer and io.ReaderFrom, and publishes with Finish. A reader implements
// io.Reader, io.Seeker, io.ReaderAt and io.WriterTo. What a stream can't do
// returns StatusInvalidArgument.
//
// Calls on one stream are serialized, except that ReadAts run side by side;
// separate streams run at the same time. Close it when done; after that, and
// after the database closes, every call but Close returns StatusClosed.
type PluginStream struct {
	db *DB
	// ctx ends with that of Objects.WithContext, whose request the stream is of,
	// and with the database.
	ctx    context.Context //nolint:containedctx // see above
	cancel func()
	// request is the context of Objects.WithContext alone. A Finish that is under
	// way when the database closes is waited for.
	request context.Context //nolint:containedctx // see above

	turn turn
	// Exactly one of the two is set.
	upload *payload.Upload
	reader *payload.Reader
}

// The interfaces that a stream is made to fit.
var (
	_ io.Writer     = (*PluginStream)(nil)
	_ io.ReaderFrom = (*PluginStream)(nil)
	_ io.ReadSeeker = (*PluginStream)(nil)
	_ io.ReaderAt   = (*PluginStream)(nil)
	_ io.WriterTo   = (*PluginStream)(nil)
	_ io.Closer     = (*PluginStream)(nil)
)

// begin marks a call as under way; the caller defers s.db.calls.Done.
func (s *PluginStream) begin() error {
	if s == nil {
		return &Error{Status: StatusClosed, Message: "the stream is nil"}
	}
	if err := s.db.enter(); err != nil {
		return err
	}
	if err := s.ctx.Err(); err != nil {
		s.db.calls.Done()
		return s.asError(err)
	}
	return nil
}

// write runs fn on the upload, one call at a time.
func (s *PluginStream) write(op string, fn func(*payload.Upload) error) error {
	if err := s.enter(); err != nil {
		return withOp(op, err)
	}
	defer s.leave()
	if s.upload == nil {
		return withOp(op, invalid("the stream reads a payload and cannot write one"))
	}
	return withOp(op, s.asError(fn(s.upload)))
}

// read runs fn on the reader, one call at a time.
func (s *PluginStream) read(op string, fn func(*payload.Reader) error) error {
	if err := s.enter(); err != nil {
		return withOp(op, err)
	}
	defer s.leave()
	if s.reader == nil {
		return withOp(op, invalid("the stream uploads a payload and cannot read one"))
	}
	return s.readError(op, fn(s.reader))
}

// readError is withOp, but for io.EOF, which callers compare with ==.
func (s *PluginStream) readError(op string, err error) error {
	if err == io.EOF { // only the bare value means the end
		return err
	}
	return withOp(op, s.asError(err))
}

// asError gives an error its status: closed, if the stream's context ended
// because the stream or the database was closed.
func (s *PluginStream) asError(err error) error {
	err = asError(err)
	if cause := asError(context.Cause(s.ctx)); errors.Is(err, StatusCanceled) && errors.Is(cause, StatusClosed) {
		return cause
	}
	return err
}

// Write appends bytes to the payload of an upload. It returns StatusIO when the
// disk fails or is full, and StatusOutOfMemory when the memory budget has no room
// for a larger working buffer, or for the list of a very large payload's chunks:
// 768 KiB for each 4096 of them, about 4 GiB, after the first. The first n bytes
// are part of the payload then, and the rest may be written again when there is
// room: the upload stays as it is.
func (s *PluginStream) Write(p []byte) (n int, err error) {
	err = s.write("objects.upload.write", func(u *payload.Upload) (err error) {
		n, err = u.Write(s.ctx, p)
		return err
	})
	return n, err
}

// ReadFrom appends everything that r yields. An error of r is returned as it is
// and leaves the upload usable, as do those of Write.
//
// It ends before the next read of r when the stream's context ends, or the
// stream or the database is closed. A read under way cannot be interrupted;
// neither Close waits for it.
//
// It returns StatusInvalidArgument when r is the database's own file, whose end
// an upload would never reach.
func (s *PluginStream) ReadFrom(r io.Reader) (n int64, err error) {
	if s.readsItself(r) {
		return 0, withOp("objects.upload.write", invalid("the reader is the database itself"))
	}
	var source error
	err = s.write("objects.upload.write", func(u *payload.Upload) (err error) {
		n, source, err = u.ReadFrom(s.ctx, callersReader{s, r})
		if s.turn.gone {
			return commit.ErrClosed
		}
		return err
	})
	if err == nil {
		err = source
	}
	return n, err
}

// Finish publishes the payload atomically and returns a document with digest,
// size and deduplicated, which says whether an equal payload was published
// already. The upload can only be closed afterwards.
//
// It returns StatusConflict while the database holds writes, StatusIO when the
// disk fails or is full, StatusCanceled when the stream's context ended, and
// StatusOutOfMemory when the memory budget has no room for the list of a very large
// payload's chunks. Nothing is published then and nothing is lost: Finish may be
// called again, when writes are released or there is room. Whether more may be
// written depends on how far it came; Write says so.
func (s *PluginStream) Finish() (*Document, error) {
	published, err := s.finish()
	if err != nil {
		return nil, err
	}
	return published.document(), nil
}

func (s *PluginStream) finish() (published Published, err error) {
	err = s.write("objects.upload.finish", func(u *payload.Upload) error {
		if u.Err() == nil && s.db.queue.Held() {
			return commit.ErrHeld
		}
		p, err := u.Finish(s.request, func(d *payload.Draft) error { return s.db.publish(s.request, d) })
		published = Published(p)
		return err
	})
	return published, err
}

// Read reads from the stream's position on. Every chunk is verified against its
// digest first: it returns StatusEvaluationFailed when stored bytes do not
// match, and never a wrong byte, and StatusOutOfMemory when the memory budget has
// no room for the chunk. At the end it returns io.EOF.
func (s *PluginStream) Read(p []byte) (n int, err error) {
	err = s.read("objects.open.read", func(r *payload.Reader) (err error) {
		n, err = r.Read(s.ctx, p)
		return err
	})
	return n, err
}

// WriteTo writes everything from the position on to w, as io.Copy does. An
// error of w is returned as it is.
//
// It ends before the next write to w when the stream's context ends, or the
// stream or the database is closed. A write under way cannot be interrupted;
// neither Close waits for it.
func (s *PluginStream) WriteTo(w io.Writer) (n int64, err error) {
	var target error
	err = s.read("objects.open.read", func(r *payload.Reader) (err error) {
		n, target, err = r.WriteTo(s.ctx, callersWriter{s, w})
		if s.turn.gone {
			return commit.ErrClosed
		}
		return err
	})
	if err == nil {
		err = target
	}
	return n, err
}

// Seek moves the position of a reader, which may lie beyond the end. It returns
// StatusInvalidArgument for a negative position or another whence.
func (s *PluginStream) Seek(offset int64, whence int) (position int64, err error) {
	err = s.read("objects.open.seek", func(r *payload.Reader) (err error) {
		position, err = r.Seek(offset, whence)
		return err
	})
	return position, err
}

// ReadAt reads len(p) bytes at an offset, without moving the position, as
// io.ReaderAt has it. Any number may run at once on one stream.
func (s *PluginStream) ReadAt(p []byte, offset int64) (n int, err error) {
	const op = "objects.open.read"
	if err := s.begin(); err != nil {
		return 0, withOp(op, err)
	}
	defer s.db.calls.Done()
	if s.reader == nil {
		return 0, withOp(op, invalid("the stream uploads a payload and cannot read one"))
	}
	n, err = s.reader.ReadAt(s.ctx, p, offset)
	return n, s.readError(op, err)
}

// Size returns the payload's size in bytes: of a reader the whole, of an upload
// what was written so far. It returns zero for a nil stream, and works after
// Close, too.
func (s *PluginStream) Size() int64 {
	switch {
	case s == nil || s.db == nil:
		return 0
	case s.reader != nil:
		return s.reader.Size()
	}
	return s.upload.Size()
}

// Close frees what the stream uses. An unfinished upload is abandoned: nothing
// is published and its space comes back. Close ends a call under way, except a
// Finish, for which it waits. It may be called again, also by a reader or
// writer that a call uses, and returns nil.
func (s *PluginStream) Close() error {
	if s != nil && s.db != nil {
		s.shut()
		s.db.forget(s)
	}
	return nil
}
