package file

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// temp is a file being written, not yet in its place.
type temp struct {
	name string
	etag string
	size int64
}

// writeTemp makes a temporary file, complete and synced, with what write
// writes; detailed says whether it will be an object with details. The caller
// installs or removes it.
func (s *Store) writeTemp(detailed bool, write func(*os.File) error) (_ *temp, err error) {
	t := &temp{name: tempDir + "/" + rand.Text()}
	open := func() (*os.File, error) { return s.root.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) }
	file, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.root.MkdirAll(tempDir, 0o777); err != nil {
			return nil, err
		}
		file, err = open()
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			s.removeTemp(t)
		}
	}()
	if err := write(file); err != nil {
		return nil, err
	}
	// The time makes the ETag unique, so it must be set after the last write.
	now := s.nextTime(detailed)
	if err := s.root.Chtimes(t.name, now, now); err != nil {
		return nil, err
	}
	if !s.options.NoSync {
		if err := file.Sync(); err != nil {
			return nil, err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	t.etag, t.size = etag(info), info.Size()
	return t, nil
}

// removeTemp is best effort: the file may be installed already, or the next
// Open removes it.
func (s *Store) removeTemp(t *temp) { _ = s.root.Remove(t.name) }

// writeBody writes all of body, and fails when it is not of its size.
func (s *Store) writeBody(ctx context.Context, body objectstore.Body) func(*os.File) error {
	return func(file *os.File) error {
		buffer := s.buffers.Get().(*[]byte)
		defer s.buffers.Put(buffer)
		source := &contextReader{ctx, body.Open()}
		n, err := io.CopyBuffer(struct{ io.Writer }{file}, source, *buffer)
		if err != nil {
			return err
		}
		if n != body.Size() {
			return fmt.Errorf("body has %d bytes, not %d: %w", n, body.Size(), io.ErrUnexpectedEOF)
		}
		return ctx.Err()
	}
}

// contextReader fails once its context has ended. It lives for one call.
type contextReader struct {
	ctx context.Context //nolint:containedctx // no longer than the call that made it
	io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
