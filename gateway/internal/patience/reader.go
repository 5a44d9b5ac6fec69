package patience

import (
	"context"
	"io"

	"github.com/stardustdb/stardust"
)

// Reader reads a payload and waits when there is no memory for its next chunk. It
// belongs to one goroutine at a time; the caller closes what it reads.
type Reader struct {
	ctx    context.Context //nolint:containedctx // of the one request that it serves
	reader *stardust.Reader
}

// NewReader returns the patient reader of a payload, until ctx ends.
func NewReader(ctx context.Context, reader *stardust.Reader) *Reader { return &Reader{ctx, reader} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (n int, err error) {
	err = wait(r.ctx, func() (err error) {
		n, err = r.reader.Read(p)
		return err
	})
	return n, err
}

// WriteTo implements io.WriterTo.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	err = wait(r.ctx, func() error {
		some, err := r.reader.WriteTo(w)
		n += some
		return err
	})
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) { return r.reader.Seek(offset, whence) }
