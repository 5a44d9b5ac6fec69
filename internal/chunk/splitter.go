package chunk

import "errors"

// ErrBuffer is returned by [NewSplitter] for a buffer of less than Max bytes.
var ErrBuffer = errors.New("chunk: the buffer must hold the largest chunk")

// ErrDone is returned by a [Splitter] that was closed or whose emit failed.
var ErrDone = errors.New("chunk: the splitter is closed")

// Splitter cuts what is written to it into chunks. Where it cuts does not depend
// on the sizes of the writes. It is not safe for concurrent use.
type Splitter struct {
	buf  []byte
	n    int // bytes of buf that wait for a cut
	emit func(chunk []byte) error
	err  error // what every later call returns
}

// NewSplitter returns a Splitter that calls emit with every chunk, in order, from
// within Write and Close. A chunk's bytes are valid during the call only. buf is
// the working memory, of at least Max bytes; it's the Splitter's until Close.
func NewSplitter(buf []byte, emit func(chunk []byte) error) (*Splitter, error) {
	if len(buf) < Max {
		return nil, ErrBuffer
	}
	return &Splitter{buf: buf, emit: emit}, nil
}

// Write implements io.Writer. An error is emit's; the Splitter is then done.
func (s *Splitter) Write(p []byte) (int, error) {
	taken := 0
	for s.err == nil && taken < len(p) {
		m := copy(s.buf[s.n:], p[taken:])
		s.n += m
		taken += m
		if s.n == len(s.buf) {
			s.cut(false)
		}
	}
	return taken, s.err
}

// Close emits what is left, which for an empty payload is nothing. A second
// Close returns [ErrDone].
func (s *Splitter) Close() error {
	if s.err != nil {
		return s.err
	}
	s.cut(true)
	err := s.err
	if err == nil {
		s.err = ErrDone
	}
	s.buf = nil
	return err
}

// cut emits the chunks that are known, and moves what remains to the front.
func (s *Splitter) cut(final bool) {
	rest := s.buf[:s.n]
	for s.err == nil && len(rest) > 0 {
		if !final && len(rest) < len(s.buf) && len(rest) < Worthwhile {
			break
		}
		n := Cut(rest, final)
		if n == 0 {
			break
		}
		s.err = s.emit(rest[:n])
		rest = rest[n:]
	}
	s.n = copy(s.buf, rest)
}
