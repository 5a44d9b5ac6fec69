package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// reader reads bytes of a local copy at offsets within the object.
type reader interface {
	// readAt fills p, which lies within the object, or fails.
	readAt(p []byte, off int64) error
	close() error
}

// body is what a local Get returns: a Body over a reader, in one allocation
// with the result, since both are made on every read.
//
// It is an io.ReadSeeker, an io.ReaderAt and an io.WriterTo besides; offsets
// count from the first byte of the range that was asked for.
type body struct {
	reader reader
	start  int64 // of the object
	size   int64 // of the body
	at     int64 // of the body
	closed atomic.Bool
	result objectstore.GetResult
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadAt(p[:min(int64(len(p)), max(0, b.size-b.at))], b.at)
	b.at += int64(n)
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

func (b *body) ReadAt(p []byte, off int64) (int, error) {
	switch {
	case b.closed.Load():
		return 0, os.ErrClosed
	case off < 0:
		return 0, fmt.Errorf("%w: read at offset %d", os.ErrInvalid, off)
	case len(p) == 0:
		return 0, nil
	case off >= b.size:
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > b.size-off {
		p, end = p[:b.size-off], io.EOF
	}
	if err := b.reader.readAt(p, b.start+off); err != nil {
		return 0, err
	}
	return len(p), end
}

func (b *body) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.size
	default:
		return 0, fmt.Errorf("%w: whence %d", os.ErrInvalid, whence)
	}
	if offset < 0 {
		return 0, fmt.Errorf("%w: seek to %d", os.ErrInvalid, offset)
	}
	b.at = offset
	return offset, nil
}

// WriteTo copies in large pieces; io.Copy uses it.
func (b *body) WriteTo(w io.Writer) (written int64, err error) {
	buffer := make([]byte, min(copySize, max(0, b.size-b.at)))
	for b.at < b.size {
		n, err := b.Read(buffer)
		if n > 0 {
			m, err := w.Write(buffer[:n])
			written += int64(m)
			if err != nil {
				return written, err
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return written, err
		}
	}
	return written, nil
}

func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.reader.close()
}

// fileBody is a body whose reader has a file of the operating system: it is an
// objectstore.FileBody.
type fileBody struct {
	body
	file *os.File
}

// File implements objectstore.FileBody.
func (b *fileBody) File() *os.File {
	// A seek within a regular file can't fail.
	_, _ = b.file.Seek(b.start, io.SeekStart)
	return b.file
}

// plainReader reads an open file, unchecked.
type plainReader struct {
	m    *Mirror
	h    *local.Handle
	path objectstore.Path
}

func (r *plainReader) readAt(p []byte, off int64) error {
	n, err := r.h.File.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		// Someone has cut the file. Without its entry, the next fetch and the next
		// read that may download will bring it back.
		if r.m.local.Forget(r.path, r.h.Entry) {
			r.m.local.Tally.Dropped.Add(1)
			r.m.logger.Warn("local copy is cut", "path", r.path)
		}
		err = fmt.Errorf("the file ends at byte %d, the object has %d: %w", off+int64(n), r.h.Entry.Size, io.ErrUnexpectedEOF)
	}
	r.m.local.Tally.Errors.Add(1)
	return r.m.fail("read", r.path, local.Fail("read the local copy", r.path, err))
}

func (r *plainReader) close() error { return r.m.local.Files.Release(r.h) }

// plainBody is everything that a read without verification needs, in one
// allocation.
type plainBody struct {
	fileBody
	reader plainReader
}

// openBody returns the result of a read of [start, end) of the local copy of path
// that h is open on. The result's Body owns h.
func (m *Mirror) openBody(ctx context.Context, path objectstore.Path, h *local.Handle, start, end int64) *objectstore.GetResult {
	if m.options.Verify {
		return m.openVerified(ctx, path, h, start, end)
	}
	b := &plainBody{reader: plainReader{m, h, path}}
	b.body.reader, b.start, b.size = &b.reader, start, end-start
	describe(&b.result, path, h.Entry, start, end)
	if file, ok := h.File.(vfs.OSFile); ok {
		b.file = file.File()
		b.result.Body = b
	} else {
		b.result.Body = &b.body
	}
	return &b.result
}

// describe fills in a GetResult without a Body.
func describe(result *objectstore.GetResult, path objectstore.Path, e *local.Entry, start, end int64) {
	result.Meta = e.Meta(path)
	result.Start, result.End = start, end
	if e.Attributes != nil {
		result.Attributes = e.Attributes.Clone()
	}
}
