package wire

import (
	"context"
	"errors"
	"io"

	"github.com/stardustdb/stardust/objectstore"
)

// Source is a body being sent. It keeps the error of the caller's reader apart
// from those of the connection, and never lets a request finish that the
// caller's reader did not finish, or whose caller has given up: a connection
// learns of a canceled context only after a while.
type Source struct {
	ctx    context.Context //nolint:containedctx // no longer than the call that made it
	reader io.Reader
	err    error // sticky
}

// NewSource returns what to send for a body, an io.Seeker when the body is
// replayable, and the Source that knows how the reading of it went.
func NewSource(ctx context.Context, b objectstore.Body) (io.Reader, *Source) {
	s := &Source{ctx: ctx, reader: b.Open()}
	if seeker, ok := s.reader.(io.Seeker); ok {
		return &seekableSource{s, seeker}, s
	}
	return s, s
}

// Read implements io.Reader.
func (s *Source) Read(p []byte) (int, error) {
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

// Cause returns the reader's own error when it has failed, or err.
func (s *Source) Cause(err error) error {
	if s.err != nil {
		return s.err
	}
	return err
}

type seekableSource struct {
	*Source
	seeker io.Seeker
}

func (s *seekableSource) Seek(offset int64, whence int) (int64, error) {
	return s.seeker.Seek(offset, whence)
}
