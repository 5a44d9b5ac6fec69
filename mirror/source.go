package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// source is a remote body that is being read. The zero value is none.
type source struct {
	body          io.ReadCloser
	from, at, end int64 // of the object
	watch         *watchdog
	paused        bool // the watch, while the bytes that came are used
}

// open makes a GET the source, with stall as its longest silence. The source
// closes the result's Body.
func (s *source) open(ctx context.Context, remote objectstore.Store, path objectstore.Path, options *objectstore.GetOptions, stall time.Duration) (*objectstore.GetResult, error) {
	w := watch(ctx, stall)
	result, err := remote.Get(w.ctx, path, options)
	if err != nil {
		err = w.error(err)
		w.stop()
		return nil, err
	}
	w.progress()
	*s = source{body: result.Body, from: result.Start, at: result.Start, end: result.End, watch: w}
	if result.Body == nil {
		w.stop()
	}
	return result, nil
}

// read reads into p, which is not longer than what is left. An early end is
// io.ErrUnexpectedEOF.
func (s *source) read(p []byte) (int, error) {
	if s.paused {
		s.watch.progress()
	}
	n, err := s.body.Read(p)
	s.at += int64(n)
	if s.paused = n > 0; s.paused {
		s.watch.pause()
	}
	switch {
	case err == io.EOF && s.at < s.end:
		err = fmt.Errorf("body ended at byte %d of %d: %w", s.at, s.end, io.ErrUnexpectedEOF)
	case err == io.EOF:
		err = nil // finish will see it again
	}
	return n, s.watch.error(err)
}

// finish checks, once everything was read, that the body ends there: it may
// report that its bytes were wrong.
func (s *source) finish() error {
	if s.at < s.end {
		return nil
	}
	if s.paused {
		s.watch.progress()
	}
	var one [1]byte
	n, err := io.ReadFull(s.body, one[:])
	switch {
	case n > 0:
		return fmt.Errorf("body is longer than its %d bytes", s.end)
	case err != io.EOF:
		return s.watch.error(err)
	}
	s.close()
	return nil
}

func (s *source) close() {
	if s.body != nil {
		_ = s.body.Close()
		s.body = nil
		s.watch.stop()
	}
}

// Read implements io.Reader for readAll.
func (s *source) Read(p []byte) (int, error) {
	if err := s.watch.ctx.Err(); err != nil {
		return 0, s.watch.error(err) // a Body need not look at its context
	}
	return s.read(p)
}

// readAll reads the rest and closes the source. Its memory grows with the bytes
// that come, not by the size that was promised.
func (s *source) readAll() ([]byte, error) {
	defer s.close()
	if s.body == nil {
		return nil, errors.New("the remote gave no body")
	}
	var data bytes.Buffer
	data.Grow(int(min(max(0, s.end-s.at), copySize)))
	for s.at < s.end {
		if _, err := data.ReadFrom(io.LimitReader(s, s.end-s.at)); err != nil {
			return nil, err
		}
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}
