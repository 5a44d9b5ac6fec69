package s3

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/objectstore"
)

// body reads exactly so many bytes of an answer: an answer cut short is an
// error, whatever the connection says.
type body struct {
	io.ReadCloser
	left int64
	err  error
}

func (b *body) Read(p []byte) (int, error) {
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
		err = classify(err)
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
func (b *body) atEnd() error {
	var one [1]byte
	n, err := io.ReadFull(b.ReadCloser, one[:])
	if n > 0 || errors.Is(err, io.EOF) {
		return io.EOF
	}
	return classify(err)
}

// source is a body being sent. It keeps the error of the caller's reader apart
// from those of the connection, and never lets a request finish that the
// caller's reader did not finish, or whose caller has given up: a connection
// learns of a cancelled context only after a while.
type source struct {
	ctx    context.Context //nolint:containedctx // no longer than the call that made it
	reader io.Reader
	err    error // sticky
}

func newSource(ctx context.Context, b objectstore.Body) (io.Reader, *source) {
	s := &source{ctx: ctx, reader: b.Open()}
	if seeker, ok := s.reader.(io.Seeker); ok {
		return &seekableSource{s, seeker}, s
	}
	return s, s
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.reader.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		if ended := s.ctx.Err(); ended != nil {
			err = ended
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
		// The last bytes may come with the error. Sent, they would complete
		// the request.
		return 0, err
	}
	return n, err
}

// cause returns the reader's own error when it has failed, or err.
func (s *source) cause(err error) error {
	if s.err != nil {
		return s.err
	}
	return err
}

type seekableSource struct {
	*source
	seeker io.Seeker
}

func (s *seekableSource) Seek(offset int64, whence int) (int64, error) {
	return s.seeker.Seek(offset, whence)
}
