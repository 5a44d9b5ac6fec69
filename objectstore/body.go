package objectstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Body is what a write sends: a size and a way to read that many bytes. The
// zero value is an empty body. Make one with [Bytes], [ReaderAt] or [Stream].
type Body struct {
	size int64
	data []byte
	at   io.ReaderAt
	once io.Reader
}

// Bytes is a Body of the bytes in data, which must not change until the write
// returns.
func Bytes(data []byte) Body { return Body{size: int64(len(data)), data: data} }

// ReaderAt is a Body of the first size bytes of r.
func ReaderAt(r io.ReaderAt, size int64) Body { return Body{size: size, at: r} }

// Stream is a Body that can be read only once, so a failed write cannot be
// repeated. Use it where the bytes come from a network.
func Stream(r io.Reader, size int64) Body { return Body{size: size, once: r} }

// Size returns the number of bytes.
func (b Body) Size() int64 { return b.size }

// Replayable reports whether Open may be called more than once.
func (b Body) Replayable() bool { return b.once == nil }

// Open returns a reader of the body from its beginning. It is an
// io.ReadSeeker and io.ReaderAt when the body is replayable. A source that
// ends early or goes on beyond the size yields an error, not a short body.
func (b Body) Open() io.Reader {
	switch {
	case b.once != nil:
		return &exactReader{r: b.once, left: b.size, size: b.size}
	case b.at != nil:
		return &exactSection{io.NewSectionReader(b.at, 0, b.size)}
	default:
		return bytes.NewReader(b.data)
	}
}

// ReadAll returns all bytes of the body. For a body made with [Bytes] it
// returns the caller's own slice, which must not be changed.
func (b Body) ReadAll() ([]byte, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if b.once == nil && b.at == nil {
		return b.data, nil
	}
	return readExactly(b.Open(), b.size)
}

// Validate returns ErrInvalidOption for a body that cannot be read: of a
// negative size, or made of a nil reader.
func (b Body) Validate() error {
	switch {
	case b.size < 0:
		return fmt.Errorf("%w: body of %d bytes", ErrInvalidOption, b.size)
	case b.once == nil && b.at == nil && b.size != int64(len(b.data)):
		return fmt.Errorf("%w: body of %d bytes without a reader", ErrInvalidOption, b.size)
	}
	return nil
}

// exactSection turns the early end of a source into an error.
type exactSection struct{ *io.SectionReader }

func (e *exactSection) Read(p []byte) (int, error) {
	n, err := e.SectionReader.Read(p)
	if errors.Is(err, io.EOF) {
		at, _ := e.Seek(0, io.SeekCurrent) // cannot fail
		err = e.atEnd(at)
	}
	return n, err
}

func (e *exactSection) ReadAt(p []byte, off int64) (int, error) {
	n, err := e.SectionReader.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = e.atEnd(off + int64(n))
	}
	return n, err
}

func (e *exactSection) atEnd(at int64) error {
	if at < e.Size() {
		return shortBody(at, e.Size())
	}
	return io.EOF
}

// exactReader passes on exactly size bytes of r; fewer or more are an error.
type exactReader struct {
	r          io.Reader
	left, size int64
	err        error
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	if e.left == 0 {
		e.err = e.atEnd()
		return 0, e.err
	}
	if int64(len(p)) > e.left {
		p = p[:e.left]
	}
	n, err := e.r.Read(p)
	e.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && e.left > 0:
		err = shortBody(e.size-e.left, e.size)
	case errors.Is(err, io.EOF):
		err = io.EOF
	case err == nil && e.left == 0:
		err = e.atEnd()
	}
	e.err = err
	return n, err
}

// atEnd checks that the source ends where the size says: a source may report
// an error of its own there, such as a checksum that does not match.
func (e *exactReader) atEnd() error {
	var one [1]byte
	switch n, err := io.ReadFull(e.r, one[:]); {
	case n > 0:
		return NonRetryable(fmt.Errorf("body is longer than its %d bytes", e.size))
	case errors.Is(err, io.EOF):
		return io.EOF
	default:
		return err
	}
}

// shortBody is the error of a caller's source that ends early; sending it again
// would not help.
func shortBody(n, size int64) error {
	return NonRetryable(fmt.Errorf("body ended after %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF))
}
