package patience

import (
	"context"
	"io"

	"github.com/stardustdb/stardust"
)

// Reader reads a payload and waits when there is no memory for its next chunk. It
// belongs to one goroutine at a time, which closes it.
type Reader struct {
	ctx    context.Context //nolint:containedctx // of the one request that it serves
	reader *stardust.Reader
}

// Open is [stardust.Tree.Open] of a payload that is read until ctx ends.
func Open(ctx context.Context, tree stardust.Tree, digest stardust.Digest) (*Reader, error) {
	reader, err := tree.Open(digest)
	if err != nil {
		return nil, err
	}
	return &Reader{ctx, reader}, nil
}

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

// Close closes the payload and returns nil.
func (r *Reader) Close() error { return r.reader.Close() }
