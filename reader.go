package stardust

import (
	"io"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// Reader reads a published payload, every chunk of which is verified against its
// digest first. Calls on one reader are serialized, except that ReadAts run side
// by side; separate readers run at the same time. After Close, and after the
// database closes, every call but Close returns StatusClosed.
type Reader struct{ stream *PluginStream }

// The interfaces that a reader is made to fit.
var (
	_ io.ReadSeekCloser = (*Reader)(nil)
	_ io.ReaderAt       = (*Reader)(nil)
	_ io.WriterTo       = (*Reader)(nil)
)

// Open opens a published payload for reading.
//
// It returns StatusNotFound when no payload with the digest is published, and
// StatusEvaluationFailed when the stored manifest is damaged.
func (v Tree) Open(digest Digest) (*Reader, error) {
	stream, err := v.open(digest)
	if err != nil {
		return nil, err
	}
	return &Reader{stream}, nil
}

func (v Tree) open(digest Digest) (*PluginStream, error) {
	const op = "objects.open"
	var r *payload.Reader
	err := v.read(func(view *catalog.View) error {
		p, err := tree.Payload(view, "digest", digest)
		if err != nil {
			return err
		}
		r, err = v.db.payloads.NewReader(view, p)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.newStream(op, &PluginStream{reader: r})
}

// plugin is the stream beneath, also of a nil reader.
func (r *Reader) plugin() *PluginStream {
	if r == nil {
		return nil
	}
	return r.stream
}

// Read is [PluginStream.Read].
func (r *Reader) Read(p []byte) (n int, err error) { return r.plugin().Read(p) }

// ReadAt is [PluginStream.ReadAt].
func (r *Reader) ReadAt(p []byte, offset int64) (n int, err error) {
	return r.plugin().ReadAt(p, offset)
}

// Seek is [PluginStream.Seek].
func (r *Reader) Seek(offset int64, whence int) (position int64, err error) {
	return r.plugin().Seek(offset, whence)
}

// WriteTo is [PluginStream.WriteTo].
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) { return r.plugin().WriteTo(w) }

// Size returns the payload's size in bytes, also after Close.
func (r *Reader) Size() int64 { return r.plugin().Size() }

// Close frees what the reader holds. It may be called again, and returns nil.
func (r *Reader) Close() error { return r.plugin().Close() }
