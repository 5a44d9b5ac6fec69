package stardust

import (
	"io"

	"github.com/stardustdb/stardust/internal/commit"
)

// turn lets one call of a stream at a time do its work. While that call waits
// for its caller's own reader or writer, which may take forever, Close may go
// ahead: whoever has a token of either kind has the stream alone.
type turn struct {
	// work holds a token while a call is under way, away one while it is with its
	// caller's reader or writer.
	work, away chan struct{}
	// gone says that the database closed while the call was away. It is the
	// call's own.
	gone bool
}

func newTurn() turn { return turn{work: make(chan struct{}, 1), away: make(chan struct{}, 1)} }

// enter marks a call as under way and waits for its turn, unless the stream or
// the database closes, or the stream's context ends. The caller calls leave.
func (s *PluginStream) enter() error {
	if err := s.begin(); err != nil {
		return err
	}
	select {
	case s.turn.work <- struct{}{}:
		return nil
	case <-s.ctx.Done():
		s.db.calls.Done()
		return s.asError(s.ctx.Err())
	}
}

func (s *PluginStream) leave() {
	gone := s.turn.gone
	s.turn.gone = false
	<-s.turn.work
	if !gone {
		s.db.calls.Done()
	}
}

// stepOut lets Close go ahead, of the stream and of the database.
func (s *PluginStream) stepOut() {
	s.turn.away <- struct{}{}
	s.db.calls.Done()
}

// stepIn ends that. It reports false when the database closed meanwhile; then
// the call must return without using the database.
func (s *PluginStream) stepIn() bool {
	<-s.turn.away
	s.turn.gone = s.db.enter() != nil
	return !s.turn.gone
}

// shut frees what the stream holds, once. It waits for a call under way, which
// ends soon since its context has ended.
func (s *PluginStream) shut() {
	s.cancel()
	select {
	case s.turn.work <- struct{}{}:
		s.free()
		<-s.turn.work
	case token := <-s.turn.away:
		s.free()
		s.turn.away <- token
	}
}

func (s *PluginStream) free() {
	if s.reader != nil {
		s.reader.Close()
	} else {
		s.upload.Close()
	}
}

// callersReader is a caller's reader, to which a call steps out.
type callersReader struct {
	s *PluginStream
	r io.Reader
}

func (c callersReader) Read(p []byte) (n int, err error) {
	c.s.stepOut()
	defer func() {
		if !c.s.stepIn() {
			n, err = 0, commit.ErrClosed
		}
	}()
	return c.r.Read(p)
}

// callersWriter is a caller's writer, to which a call steps out.
type callersWriter struct {
	s *PluginStream
	w io.Writer
}

func (c callersWriter) Write(p []byte) (n int, err error) {
	c.s.stepOut()
	defer func() {
		if !c.s.stepIn() {
			err = commit.ErrClosed
		}
	}()
	return c.w.Write(p)
}
