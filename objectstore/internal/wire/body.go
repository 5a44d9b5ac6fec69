package wire

import (
	"errors"
	"fmt"
	"io"
)

// Body reads exactly so many bytes of an answer: an answer that is cut short is
// an error, whatever the connection says. Closing it closes the answer.
type Body struct {
	io.ReadCloser
	left int64
	err  error
}

// NewBody returns a Body of the next size bytes of answer. Errors of the
// connection, and of checksums, are marked as transient.
func NewBody(answer io.ReadCloser, size int64) *Body {
	return &Body{ReadCloser: answer, left: size}
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.left == 0 {
		b.err = b.atEnd()
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if errors.Is(err, io.EOF) && b.left > 0 {
		err = fmt.Errorf("%d bytes are missing: %w", b.left, io.ErrUnexpectedEOF)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = Damaged(err)
	}
	if b.left == 0 && err == nil {
		// The checksum of the whole is compared where the answer ends.
		err = b.atEnd()
	}
	b.err = err
	return n, err
}

// atEnd reads on: what follows may be a checksum that does not match. Bytes that
// do are those of a server that ignores ranges; they are not asked for.
func (b *Body) atEnd() error {
	var one [1]byte
	n, err := io.ReadFull(b.ReadCloser, one[:])
	if n > 0 || errors.Is(err, io.EOF) {
		return io.EOF
	}
	return Damaged(err)
}
